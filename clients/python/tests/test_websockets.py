"""Websockets: a realtime connection is led to the gateway, also where that has no TLS."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import websockets.sync.client
from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import Server, serve

import tollgate


@pytest.fixture
def handshakes() -> Iterator[tuple[str, list[Any]]]:
    seen: list[Any] = []

    def answer(connection: Any) -> None:
        seen.append(connection.request)
        connection.send("hello")

    server: Server = serve(answer, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host, port = server.socket.getsockname()
    yield f"http://{host}:{port}", seen
    server.shutdown()


def ours(request: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.raw_items() if name.lower().startswith("x-gateway")}


EXPECTED = {
    "x-gateway-key": "tgk_test",
    "x-gateway-provider": "openai",
    "x-gateway-trace-id": "r",
    "x-gateway-span-path": "a",
}
REALTIME = "wss://api.openai.com/v1/realtime?model=m"


def test_a_connection_of_a_thread(handshakes: tuple[str, list[Any]]) -> None:
    from websockets.sync.client import connect

    url, seen = handshakes
    tollgate.install(url, "tgk_test")
    try:
        with tollgate.run("r"), tollgate.step("a"), connect(REALTIME, additional_headers={"Authorization": "Bearer x"}) as socket:
            assert socket.recv() == "hello"
    finally:
        tollgate.uninstall()
    assert (seen[0].path, ours(seen[0]), seen[0].headers["Authorization"]) == ("/v1/realtime?model=m", EXPECTED, "Bearer x")


def test_with_a_trace_id_of_the_callers_the_steps_are_the_callers_too(handshakes: tuple[str, list[Any]]) -> None:
    from websockets.sync.client import connect

    url, seen = handshakes
    tollgate.install(url, "tgk_test")
    theirs = {"X-Gateway-Trace-Id": "mine"}
    try:
        with tollgate.run("r"), tollgate.step("a"), connect(REALTIME, additional_headers=theirs) as socket:
            assert socket.recv() == "hello"
    finally:
        tollgate.uninstall()
    assert ours(seen[0]) == {"x-gateway-key": "tgk_test", "x-gateway-provider": "openai", "x-gateway-trace-id": "mine"}


def test_a_connection_of_a_task_with_tls_asked_for(handshakes: tuple[str, list[Any]]) -> None:
    from websockets.asyncio.client import connect

    url, seen = handshakes
    tollgate.install(url, "tgk_test")

    async def main() -> None:
        with tollgate.run("r"), tollgate.step("a"):
            async with connect(REALTIME, ssl=ssl.create_default_context()) as socket:
                assert await socket.recv() == "hello"

    try:
        asyncio.run(main())
    finally:
        tollgate.uninstall()
    assert ours(seen[0]) == EXPECTED


def test_a_stranger_gets_nothing(handshakes: tuple[str, list[Any]]) -> None:
    from websockets.sync.client import connect

    url, seen = handshakes
    tollgate.install("http://127.0.0.1:9", "tgk_test")
    try:
        with tollgate.run("r"), connect(url.replace("http", "ws") + "/v1/realtime") as socket:
            assert socket.recv() == "hello"
    finally:
        tollgate.uninstall()
    assert ours(seen[0]) == {}


@pytest.mark.parametrize("kind", ["sync", "asyncio"])
def test_a_relative_redirect_is_one_of_the_provider(kind: str) -> None:
    seen: list[Any] = []

    def redirect(_: Any, request: Any) -> Any:
        seen.append(request)
        if request.path == "/llm/v1/realtime?model=m":
            return Response(307, "Temporary Redirect", Headers({"Location": "/v2/realtime"}))
        return None

    server = serve(lambda connection: connection.send("hello"), "127.0.0.1", 0, process_request=redirect)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tollgate.install("http://127.0.0.1:%d/llm" % server.socket.getsockname()[1], "tgk_test")
    theirs = {"Authorization": "Bearer x"}
    if kind == "sync" and not hasattr(websockets.sync.client, "reconnect"):
        pytest.skip("this version follows no redirects in threads")
    try:
        with tollgate.run("r"), tollgate.step("a"):
            if kind == "sync":
                with websockets.sync.client.connect(REALTIME, additional_headers=theirs) as socket:
                    assert socket.recv() == "hello"
            else:
                asyncio.run(receive_hello(theirs))
    finally:
        tollgate.uninstall()
        server.shutdown()
    assert [(one.path, ours(one), one.headers["Authorization"]) for one in seen] == [
        ("/llm/v1/realtime?model=m", EXPECTED, "Bearer x"),
        ("/llm/v2/realtime", EXPECTED, "Bearer x"),
    ]


async def receive_hello(theirs: dict[str, str]) -> None:
    from websockets.asyncio.client import connect

    async with connect(REALTIME, additional_headers=theirs) as socket:
        assert await socket.recv() == "hello"


def test_a_redirect_to_a_stranger_takes_nothing_along(handshakes: tuple[str, list[Any]]) -> None:
    url, seen = handshakes
    there = url.replace("http", "ws") + "/elsewhere"
    server = serve(
        lambda connection: connection.send("hello"),
        "127.0.0.1",
        0,
        process_request=lambda *_: Response(307, "Temporary Redirect", Headers({"Location": there})),
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tollgate.install("http://127.0.0.1:%d" % server.socket.getsockname()[1], "tgk_test")
    try:
        with tollgate.run("r"), pytest.raises(Exception, match="non-secure"):
            asyncio.run(receive_hello({"Authorization": "Bearer x"}))
    finally:
        tollgate.uninstall()
        server.shutdown()
    assert seen == []


def test_no_header_of_ours_goes_along_to_a_stranger() -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    async def follow(location: str) -> tuple[Any, list[str]]:
        opener: Any = connect(REALTIME, additional_headers={"Authorization": "Bearer x"})
        found = opener.process_redirect(InvalidStatus(Response(307, "Temporary Redirect", Headers({"Location": location}))))
        return found, [name.lower() for name, _ in opener.additional_headers]

    tollgate.install("http://127.0.0.1:9/llm", "tgk_test")
    try:
        found, names = asyncio.run(follow("wss://stranger.example/x"))
        assert (found, "x-gateway-provider" in names) == ("wss://stranger.example/x", False)
        assert asyncio.run(follow("/v2/x")) == ("ws://127.0.0.1:9/llm/v2/x", ["authorization", "x-gateway-provider"])
    finally:
        tollgate.uninstall()
