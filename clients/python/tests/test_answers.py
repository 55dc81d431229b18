"""What a program gets back: addresses, redirects and errors, as if the provider had been asked."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from recorder import Recorder
from senders import BODY, SENDERS, Sender

import tollgate

CHAT = "https://api.openai.com/v1/chat/completions?a=b"
AUTHORIZATION = {"Authorization": "Bearer sk-test"}
TOKEN = "tgr_secret"
every_sender = pytest.mark.parametrize("send", SENDERS, ids=lambda send: send.__name__)


@dataclass(frozen=True)
class Answer:
    url: str
    request_url: str
    request_headers: dict[str, str]
    shown: str
    """As it prints itself, with the error that it raises for its status."""


def _answer(url: Any, request: Any, response: Any, raise_for_status: Callable[[], Any]) -> Answer:
    shown = repr(response)
    try:
        raise_for_status()
    except Exception as error:
        shown += "".join(traceback.format_exception(error)) + repr(error)
    return Answer(str(url), str(request.url), {name.lower(): value for name, value in request.headers.items()}, shown)


def ask_httpx(url: str) -> Answer:
    import httpx

    with httpx.Client(follow_redirects=True) as client:
        response = client.post(url, content=BODY, headers=AUTHORIZATION)
    return _answer(response.url, response.request, response, response.raise_for_status)


def ask_httpx_async(url: str) -> Answer:
    import httpx

    async def ask() -> Answer:
        async with httpx.AsyncClient(follow_redirects=True) as client:
            response = await client.post(url, content=BODY, headers=AUTHORIZATION)
        return _answer(response.url, response.request, response, response.raise_for_status)

    return asyncio.run(ask())


def ask_requests(url: str) -> Answer:
    import requests

    response = requests.post(url, data=BODY, headers=AUTHORIZATION, timeout=5)
    return _answer(response.url, response.request, response, response.raise_for_status)


def ask_aiohttp(url: str) -> Answer:
    import aiohttp

    async def ask() -> Answer:
        async with aiohttp.ClientSession() as session, session.post(url, data=BODY, headers=AUTHORIZATION) as response:
            await response.read()
            assert response.real_url == response.url
            return _answer(response.url, response.request_info, response, response.raise_for_status)

    return asyncio.run(ask())


ASKERS = [ask_httpx, ask_httpx_async, ask_requests, ask_aiohttp]
every_asker = pytest.mark.parametrize("ask", ASKERS, ids=lambda ask: ask.__name__)


@pytest.fixture
def beneath(gateway: Recorder) -> Recorder:
    """A gateway that is one of several things at its host."""
    tollgate.install(f"{gateway.url}/llm", "tgk_test")
    return gateway


@pytest.fixture
def provider(stranger: Recorder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """A recorder in the place of a provider: its calls are led."""
    from tollgate import _lead

    host, port = stranger.url.removeprefix("http://").split(":")
    real = _lead.lead

    def lead(scheme: str, to: str, at: int | None, *rest: Any) -> Any:
        return real("https", "api.openai.com", 443, *rest) if (to, at) == (host, int(port)) else real(scheme, to, at, *rest)

    for name in ("httpx", "requests", "aiohttp"):
        monkeypatch.setattr(f"tollgate.libraries.{name}.lead", lead)
    yield stranger
    tollgate.uninstall()


@every_asker
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_shows_the_address_that_was_asked_for(
    gateway: Recorder, ask: Callable[[str], Answer], status: int
) -> None:
    tollgate.install(f"{gateway.url}/@{TOKEN}", "")
    gateway.status = status
    answer = ask(CHAT)
    assert gateway.requests[0].target == f"/@{TOKEN}/v1/chat/completions?a=b"
    assert (answer.url, answer.request_url) == (CHAT, CHAT)
    assert [name for name in answer.request_headers if name.startswith("x-gateway")] == []
    assert answer.request_headers.get("host", "api.openai.com") == "api.openai.com"
    assert TOKEN not in answer.shown


@every_asker
def test_a_relative_redirect_is_one_of_the_provider(beneath: Recorder, ask: Callable[[str], Answer]) -> None:
    beneath.redirects = {"/llm/v1/chat/completions?a=b": "/v2/x", "/llm/v2/x": "https://api.openai.com/v3/x"}
    assert ask(CHAT).url == "https://api.openai.com/v3/x"
    assert [(one.target, one.of_ours, one.headers["authorization"]) for one in beneath.requests] == [
        (target, {"x-gateway-key": "tgk_test", "x-gateway-provider": "openai"}, "Bearer sk-test")
        for target in ("/llm/v1/chat/completions?a=b", "/llm/v2/x", "/llm/v3/x")
    ]


@every_sender
def test_what_is_beside_the_gateway_at_its_host_is_a_stranger(beneath: Recorder, send: Sender) -> None:
    with tollgate.run("r"):
        for path in ("/v2/x", "/llmx/y", "/llm/v1/x", "/llm/@tgr_x/v1/x"):
            send(beneath.url + path, {})
    assert [one.of_ours for one in beneath.requests] == [
        {},
        {},
        {"x-gateway-key": "tgk_test", "x-gateway-trace-id": "r"},
        {"x-gateway-trace-id": "r"},
    ]


def test_a_path_that_leads_out_of_the_gateway_is_a_strangers(beneath: Recorder) -> None:
    from tollgate._lead import lead

    host, port = beneath.url.removeprefix("http://").split(":")
    for target in ("/llm/../x", "/llm/%2e%2E/x", "/llm/.."):
        assert lead("http", host, int(port), target, (), "") is None


@every_sender
def test_an_error_shows_neither_token_nor_key(send: Sender) -> None:
    for url, key, fail_open in (
        (f"http://127.0.0.1:9/@{TOKEN}", "", False),
        ("http://127.0.0.1:9", "tgk_test", False),
        # No provider is there either.
        (f"http://127.0.0.1:9/@{TOKEN}", "", True),
    ):
        tollgate.install(url, key, fail_open=fail_open)
        try:
            with pytest.raises(Exception, match=r"(?i)connect|resol|name") as caught:
                send(CHAT, {})
        finally:
            tollgate.uninstall()
        assert TOKEN not in "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
        assert caught.value.__context__ is None or TOKEN not in repr(vars(caught.value.__context__))
        request = getattr(caught.value, "request", None)
        if request is not None:
            assert (str(request.url), [name for name in request.headers if "gateway" in name.lower()]) == (CHAT, [])


def test_a_timeout_of_aiohttp_shows_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    import aiohttp
    from senders import send_aiohttp

    async def never(*_: Any) -> Any:
        raise asyncio.TimeoutError

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", never)
    tollgate.install(f"http://127.0.0.1:9/@{TOKEN}", "")
    try:
        with pytest.raises(aiohttp.ConnectionTimeoutError, match=r"127\.0\.0\.1:9") as caught:
            send_aiohttp(CHAT, {})
    finally:
        tollgate.uninstall()
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


@every_sender
def test_a_call_that_was_served_is_not_repeated_where_its_redirect_fails(
    gateway: Recorder, provider: Recorder, send: Sender
) -> None:
    tollgate.install(gateway.url, "tgk_test", fail_open=True)
    gateway.redirect_to = "http://127.0.0.1:9/elsewhere"
    with pytest.raises(Exception, match=r"(?i)connect"):
        send(f"{provider.url}/v1/models", {})
    assert (len(gateway.requests), provider.requests) == (1, [])


@every_sender
def test_what_led_to_a_provider_is_not_repeated_with_it(provider: Recorder, send: Sender) -> None:
    first = Recorder()
    first.redirect_to = f"{provider.url}/v1/models"
    tollgate.install("http://127.0.0.1:9", "tgk_test", fail_open=True)
    try:
        send(f"{first.url}/", {})
    finally:
        first.close()
    assert [len(one.requests) for one in (first, provider)] == [1, 1]
    assert (provider.requests[0].of_ours, provider.requests[0].body) == ({}, BODY)
    assert provider.requests[0].headers["host"] == provider.url.removeprefix("http://")


@every_sender
def test_a_gateway_whose_certificate_is_refused_is_not_away(gateway: Recorder, provider: Recorder, send: Sender) -> None:
    # It speaks no TLS at all.
    tollgate.install(gateway.url.replace("http:", "https:"), "tgk_test", fail_open=True)
    with pytest.raises(Exception, match="(?i)ssl"):
        send(f"{provider.url}/v1/models", {})
    assert provider.requests == []


def test_a_strangers_connection_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import aiohttp
    from senders import send_aiohttp

    tried: list[str] = []

    async def never(_self: Any, req: Any, *_: Any) -> Any:
        tried.append(req.url.host)
        raise asyncio.TimeoutError

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", never)
    tollgate.install("http://127.0.0.1:9", "tgk_test", fail_open=True)
    try:
        for url in ("http://stranger.example/", "http://127.0.0.1:9/v1/messages", CHAT):
            with pytest.raises(aiohttp.ConnectionTimeoutError):
                send_aiohttp(url, {})
    finally:
        tollgate.uninstall()
    # The gateway's own address leads nowhere else.
    assert tried == ["stranger.example", "127.0.0.1", "127.0.0.1", "api.openai.com"]


def test_retries_of_requests_may_have_sent_something() -> None:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    from tollgate.libraries.requests import _tries_once

    post = requests.Request("POST", CHAT).prepare()
    get = requests.Request("GET", CHAT).prepare()
    assert _tries_once(HTTPAdapter(), get)
    # urllib3 repeats no POST that was sent, unless it is told to.
    assert _tries_once(HTTPAdapter(max_retries=3), post)
    assert not _tries_once(HTTPAdapter(max_retries=3), get)
    assert not _tries_once(HTTPAdapter(max_retries=Retry(3, allowed_methods=None)), post)
