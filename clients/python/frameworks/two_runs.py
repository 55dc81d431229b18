"""What each program here does: the same work in two runs side by side, with no address, header or key of Tollgate in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tollgate


def in_tasks(work: Callable[[], Awaitable[Any]]) -> None:
    async def one(run_id: str) -> None:
        async with tollgate.run(run_id):
            await work()

    async def both() -> None:
        await asyncio.gather(one("x"), one("y"))

    asyncio.run(both())


def in_threads(work: Callable[[], Any]) -> None:
    def one(run_id: str) -> None:
        with tollgate.run(run_id):
            work()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, ("x", "y")))
