"""One request by each HTTP library, as the SDKs make it: with the provider's own address and a header of the user's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

Sender = Callable[[str, dict[str, str]], None]
BODY = b'{"model":"m"}'


def send_httpx(url: str, headers: dict[str, str]) -> None:
    import httpx

    with httpx.Client(follow_redirects=True) as client:
        client.post(url, content=BODY, headers=headers)


def send_httpx_async(url: str, headers: dict[str, str]) -> None:
    import httpx

    asyncio.run(_post_async(httpx, url, headers))


def send_httpx2(url: str, headers: dict[str, str]) -> None:
    import httpx2

    with httpx2.Client(follow_redirects=True) as client:
        client.post(url, content=BODY, headers=headers)


def send_httpx2_async(url: str, headers: dict[str, str]) -> None:
    import httpx2

    asyncio.run(_post_async(httpx2, url, headers))


async def _post_async(library: Any, url: str, headers: dict[str, str]) -> None:
    async with library.AsyncClient(follow_redirects=True) as client:
        await client.post(url, content=BODY, headers=headers)


def send_requests(url: str, headers: dict[str, str]) -> None:
    import requests

    requests.post(url, data=BODY, headers=headers, timeout=5)


def send_aiohttp(url: str, headers: dict[str, str]) -> None:
    import aiohttp

    async def send() -> None:
        async with aiohttp.ClientSession() as session, session.post(url, data=BODY, headers=headers) as response:
            await response.read()

    asyncio.run(send())


SENDERS: list[Sender] = [
    send_httpx,
    send_httpx_async,
    send_httpx2,
    send_httpx2_async,
    send_requests,
    send_aiohttp,
]
