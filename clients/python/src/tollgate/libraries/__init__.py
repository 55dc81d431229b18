"""One file for each HTTP library: the one function through which each of its requests goes, once per hop."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from . import aiohttp, botocore, httpx, lm15, requests, websockets

LIBRARIES: dict[str, Callable[[ModuleType], None]] = {
    "httpx": httpx.attach,
    "httpx2": httpx.attach,
    "requests.adapters": requests.attach,
    "aiohttp.client_reqrep": aiohttp.attach,
    "aiohttp.connector": aiohttp.attach_connector,
    "botocore.httpsession": botocore.attach,
    "dspy._vendor.lm15.transports._sync": lm15.attach,
    "dspy._vendor.lm15.transports._async": lm15.attach_async,
    "websockets.client": websockets.attach_protocol,
    "websockets.asyncio.client": websockets.attach_connect,
    "websockets.sync.client": websockets.attach_connect,
}
