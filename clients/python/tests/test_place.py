"""Runs and steps: where is the program, in functions, threads, tasks and generators?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import pytest

import tollgate


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    tollgate.install("http://127.0.0.1:9", "tgk_test")
    yield
    tollgate.uninstall()


def place() -> str:
    found = tollgate.headers()
    return f"{found.get('X-Gateway-Trace-Id', '-')}:{found.get('X-Gateway-Span-Path', '')}"


def test_steps_nest_and_end() -> None:
    assert place() == "-:"
    with tollgate.run("r"):
        with tollgate.step("a"), tollgate.step("b / ü"):
            assert place() == "r:a/b%20%2F%20%C3%BC"
        assert place() == "r:"
    assert place() == "-:"


def test_metadata_becomes_headers() -> None:
    with tollgate.run("r", feature="search", user_id=7, city="Köln", absent=None):
        assert tollgate.headers() == {
            "X-Gateway-Key": "tgk_test",
            "X-Gateway-Trace-Id": "r",
            "X-Gateway-Feature": "search",
            "X-Gateway-User-Id": "7",
            "X-Gateway-City": "UTF-8''K%C3%B6ln",
        }


@pytest.mark.parametrize("name", ["key", "trace_id", "Provider", "a-b", "é", "_"])
def test_names_that_cannot_be_metadata_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of metadata"):
        tollgate.run("r", **{name: 1})


def test_a_value_cannot_add_a_header() -> None:
    with tollgate.run("r\r\nX-Evil: 1", note="a\r\nX-Evil: 1"), tollgate.step("s\r\nX-Evil: 1"):
        assert all("\n" not in value and "\r" not in value for value in tollgate.headers().values())


def test_a_run_inside_of_a_run_is_apart() -> None:
    with tollgate.run("outer", feature="x"), tollgate.step("a"):
        with tollgate.run("inner"), tollgate.step("b"):
            assert place() == "inner:b"
            assert "X-Gateway-Feature" not in tollgate.headers()
        assert place() == "outer:a"


def test_a_run_without_id_has_one_of_its_own() -> None:
    with tollgate.run() as first:
        assert place() == f"{first.id}:"
    with tollgate.run() as second:
        assert second.id != first.id


def test_a_long_path_keeps_its_outer_steps() -> None:
    scopes = [tollgate.step(f"step-{number}") for number in range(2_000)]
    with tollgate.run("r"):
        for scope in scopes:
            scope.__enter__()
        assert place().startswith("r:step-0/step-1/")
        assert len(place()) < 4_100
        for scope in reversed(scopes):
            scope.__exit__()
        assert place() == "r:"


def test_decorators_of_every_kind_of_function() -> None:
    @tollgate.run("r")
    @tollgate.step("plain")
    def plain() -> str:
        return place()

    @tollgate.step("coroutine")
    async def coroutine() -> str:
        await asyncio.sleep(0)
        return place()

    @tollgate.step("generator")
    def generator() -> Iterator[str]:
        yield place()
        yield place()

    @tollgate.step("asynchronous")
    async def asynchronous() -> AsyncIterator[str]:
        yield place()
        await asyncio.sleep(0)
        yield place()

    async def all_of() -> list[str]:
        found = [await coroutine()]
        async for inside in asynchronous():
            found += [inside, place()]
        return found

    assert plain() == "r:plain"
    found = []
    for inside in generator():
        found += [inside, place()]
    assert found == ["-:generator", "-:", "-:generator", "-:"]
    assert asyncio.run(all_of()) == ["-:coroutine", "-:asynchronous", "-:", "-:asynchronous", "-:"]


def test_a_decorated_generator_is_where_it_was_made() -> None:
    @tollgate.step("stream")
    def stream() -> Iterator[str]:
        yield place()
        yield place()

    with tollgate.run("r"), tollgate.step("a"):
        made = stream()
    assert [(inside, place()) for inside in made] == [("r:a/stream", "-:")] * 2


def test_a_decorated_generator_takes_what_is_sent_and_thrown() -> None:
    seen: list[Any] = []

    @tollgate.step("s")
    def echo() -> Any:
        try:
            seen.append((yield 1))
            yield 2
        except KeyError:
            seen.append(place())
            return "end"

    made = echo()
    assert (next(made), made.send("sent")) == (1, 2)
    with pytest.raises(StopIteration) as end:
        made.throw(KeyError())
    assert (end.value.value, seen) == ("end", ["sent", "-:s"])


def test_a_carried_generator_outlives_its_step() -> None:
    def stream() -> Iterator[str]:
        yield place()

    with tollgate.run("r"), tollgate.step("a"):
        carried = tollgate.carry(stream())
    assert list(carried) == ["r:a"]


def test_a_generator_that_is_left_behind_takes_its_step_along() -> None:
    def stream() -> Generator[int, None, None]:
        with tollgate.step("inside"):
            yield 1

    with tollgate.run("r"), tollgate.step("a"):
        left = stream()
        next(left)
        with tollgate.step("b"):
            left.close()
            assert place() == "r:a/b"
        assert place() == "r:a"


def test_an_asynchronous_generator_that_is_closed_by_another_task() -> None:
    async def stream() -> AsyncIterator[int]:
        with tollgate.step("inside"):
            yield 1

    async def main() -> str:
        with tollgate.run("r"):
            left = stream()
            await anext(left)
            await asyncio.create_task(left.aclose())  # type: ignore[attr-defined]
            return place()

    assert asyncio.run(main()) == "r:"


def test_a_context_manager_around_a_step_holds_for_its_body() -> None:
    @contextmanager
    def phase(name: str) -> Iterator[None]:
        with tollgate.step(name):
            yield

    with tollgate.run("r"), phase("p"):
        assert place() == "r:p"


def test_parallel_tasks_do_not_mix() -> None:
    async def one(run_id: str) -> list[str]:
        found = []
        async with tollgate.run(run_id):
            for name in ("a", "b"):
                async with tollgate.step(name):
                    await asyncio.sleep(0)
                    found.append(place())
                    found += await asyncio.gather(inner(1), inner(2))
        return found

    async def inner(number: int) -> str:
        with tollgate.step(f"i{number}"):
            await asyncio.sleep(0)
            return place()

    async def main() -> list[list[str]]:
        return list(await asyncio.gather(one("x"), one("y")))

    assert asyncio.run(main()) == [
        [f"{run_id}:a", f"{run_id}:a/i1", f"{run_id}:a/i2", f"{run_id}:b", f"{run_id}:b/i1", f"{run_id}:b/i2"]
        for run_id in ("x", "y")
    ]


def test_a_task_that_outlives_its_step_stays_in_it() -> None:
    async def late() -> str:
        await asyncio.sleep(0.01)
        return place()

    async def main() -> tuple[str, str]:
        with tollgate.run("r"):
            with tollgate.step("a"):
                task = asyncio.create_task(late())
            return await task, place()

    assert asyncio.run(main()) == ("r:a", "r:")


def test_a_pool_runs_work_where_it_was_given() -> None:
    with ThreadPoolExecutor(1) as pool:
        with tollgate.run("first"), tollgate.step("a"):
            first = pool.submit(place)
        with tollgate.run("second"):
            second = list(pool.map(lambda _: place(), range(2)))
        outside = pool.submit(place)
        assert [first.result(), *second, outside.result()] == ["first:a", "second:", "second:", "-:"]


def test_a_thread_starts_where_it_was_started() -> None:
    found: list[str] = []
    ready = threading.Event()

    def work() -> None:
        ready.wait(5)
        found.append(place())

    with tollgate.run("r"), tollgate.step("a"):
        thread = threading.Thread(target=work)
        thread.start()
    ready.set()
    thread.join()
    assert found == ["r:a"]


def test_threads_can_be_left_alone() -> None:
    tollgate.uninstall()
    tollgate.install("http://127.0.0.1:9", "tgk_test", threads=False)
    found: list[str] = []
    with tollgate.run("r"):
        thread = threading.Thread(target=lambda: found.append(place()))
        thread.start()
        thread.join()
        carried = threading.Thread(target=tollgate.carry(lambda: found.append(place())))
        carried.start()
        carried.join()
    assert found == ["-:", "r:"]


def test_one_scope_can_be_open_in_several_tasks() -> None:
    shared = tollgate.step("s")

    async def one(run_id: str) -> list[str]:
        with tollgate.run(run_id):
            with shared:
                await asyncio.sleep(0)
                inside = place()
            return [inside, place()]

    async def main() -> list[list[str]]:
        return list(await asyncio.gather(one("x"), one("y")))

    assert asyncio.run(main()) == [["x:s", "x:"], ["y:s", "y:"]]


def test_what_a_header_cannot_carry_never_fails_a_call() -> None:
    # Names of files that are no UTF-8, as os.fsdecode gives them.
    with tollgate.run("r\udcff", note="a\udcff\0\r\nX: 1"), tollgate.step("\udcff\0\n"):
        assert tollgate.headers() == {
            "X-Gateway-Key": "tgk_test",
            "X-Gateway-Trace-Id": "r%EF%BF%BD",
            "X-Gateway-Span-Path": "%EF%BF%BD%EF%BF%BD",
            "X-Gateway-Note": "UTF-8''a%EF%BF%BD%EF%BF%BD%0D%0AX%3A%201",
        }


def test_what_is_too_long_for_a_header_is_cut() -> None:
    with tollgate.run("i" * 9_000, plain="p" * 9_000, other="ü€" * 9_000), tollgate.step("s" * 9_000):
        first = tollgate.headers()
    with tollgate.run("i" * 9_001):
        second = tollgate.headers()
    assert first["X-Gateway-Span-Path"] == "s" * 200
    assert first["X-Gateway-Plain"] == "p" * 4_000
    assert unquote(first["X-Gateway-Other"].removeprefix("UTF-8''"), errors="strict") == "ü€" * 266
    assert [len(one["X-Gateway-Trace-Id"]) for one in (first, second)] == [4_000, 4_000]
    assert first["X-Gateway-Trace-Id"] != second["X-Gateway-Trace-Id"]
