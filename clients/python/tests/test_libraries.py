"""Requests by real HTTP libraries: what arrives at the gateway, and what at others."""

from __future__ import annotations

import random
import socket
import string
import subprocess
import sys
from typing import Any

import pytest
from recorder import Recorder
from senders import BODY, SENDERS, Sender, send_httpx

import tollgate
from tollgate._lead import lead

CHAT = "https://api.openai.com/v1/chat/completions?a=b%20c"
every_sender = pytest.mark.parametrize("send", SENDERS, ids=lambda send: send.__name__)


@every_sender
def test_a_call_of_a_provider_is_led_to_the_gateway(gateway: Recorder, send: Sender) -> None:
    with tollgate.run("r", feature="x"), tollgate.step("a"), tollgate.step("b"):
        send(CHAT, {"Authorization": "Bearer sk-test"})
    [request] = gateway.requests
    assert (request.method, request.target, request.body) == ("POST", "/v1/chat/completions?a=b%20c", BODY)
    assert request.headers["host"] == gateway.url.removeprefix("http://")
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.of_ours == {
        "x-gateway-key": "tgk_test",
        "x-gateway-provider": "openai",
        "x-gateway-trace-id": "r",
        "x-gateway-span-path": "a/b",
        "x-gateway-feature": "x",
    }


@every_sender
@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta/models/m:generateContent", "gemini"),
        ("https://api.together.xyz/v1/chat/completions", "together"),
        ("https://api.fireworks.ai/inference/v1/chat/completions", "fireworks"),
        ("https://API.DeepSeek.com:443/chat/completions", "deepseek"),
    ],
)
def test_each_provider_is_named(gateway: Recorder, send: Sender, url: str, provider: str) -> None:
    send(url, {})
    assert [request.of_ours for request in gateway.requests] == [
        {"x-gateway-key": "tgk_test", "x-gateway-provider": provider}
    ]


@every_sender
def test_a_signed_host_and_a_region_stay(gateway: Recorder, send: Sender) -> None:
    send("https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse", {"Authorization": "AWS4-HMAC-SHA256 x"})
    [request] = gateway.requests
    assert request.headers["host"] == "bedrock-runtime.eu-west-1.amazonaws.com"
    assert request.headers["x-gateway-provider"] == "bedrock"


@every_sender
def test_what_the_user_set_wins(gateway: Recorder, send: Sender) -> None:
    theirs = {
        "X-Gateway-Key": "tgk_own",
        "X-Gateway-Provider": "together",
        "x-gateway-trace-id": "own",
        "X-Gateway-Feature": "own",
    }
    with tollgate.run("r", feature="x", other="y"), tollgate.step("a"):
        send(CHAT, theirs)
    assert gateway.requests[0].of_ours == {name.lower(): value for name, value in theirs.items()} | {
        "x-gateway-other": "y"
    }


@every_sender
def test_a_call_to_the_gateways_own_address_gets_what_it_lacks(gateway: Recorder, send: Sender) -> None:
    with tollgate.run("r"):
        send(f"{gateway.url}/v1/messages", {})
        send(f"{gateway.url}/@tgr_x/v1/messages", {})
    assert [request.of_ours for request in gateway.requests] == [
        {"x-gateway-key": "tgk_test", "x-gateway-trace-id": "r"},
        {"x-gateway-trace-id": "r"},
    ]


@every_sender
def test_a_stranger_gets_nothing(gateway: Recorder, stranger: Recorder, send: Sender) -> None:
    with tollgate.run("r", feature="x"), tollgate.step("a"):
        send(f"{stranger.url}/v1/chat/completions", {"Authorization": "Bearer sk-test"})
    assert gateway.requests == []
    [request] = stranger.requests
    assert request.of_ours == {}
    assert (request.target, request.body) == ("/v1/chat/completions", BODY)


@every_sender
def test_a_redirect_takes_nothing_along(gateway: Recorder, stranger: Recorder, send: Sender) -> None:
    gateway.redirect_to = f"{stranger.url}/elsewhere"
    with tollgate.run("r", feature="x"), tollgate.step("a"):
        send(CHAT, {})
    assert len(gateway.requests) == 1
    assert [(request.target, request.of_ours) for request in stranger.requests] == [("/elsewhere", {})]


@every_sender
def test_a_redirect_to_a_provider_is_led(gateway: Recorder, stranger: Recorder, send: Sender) -> None:
    stranger.redirect_to = "https://api.openai.com/v1/models"
    send(f"{stranger.url}/", {})
    assert [request.of_ours for request in stranger.requests] == [{}]
    assert [(request.target, request.of_ours["x-gateway-provider"]) for request in gateway.requests] == [
        ("/v1/models", "openai")
    ]


@every_sender
def test_names_that_only_look_like_a_providers(
    gateway: Recorder, stranger: Recorder, send: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _host, *rest, **named: real("127.0.0.1", *rest, **named))
    port = stranger.url.rpartition(":")[2]
    names = ["api.openai.com.evil.example", "xapi.openai.com", "api.openai.com", "openai.com", "localhost"]
    for name in names:
        # The provider's own name too, where it is not https at its port.
        send(f"http://{name}:{port}/v1/models", {})
    assert gateway.requests == []
    assert [request.of_ours for request in stranger.requests] == [{}] * len(names)


def test_no_unknown_host_is_led_whatever_it_is() -> None:
    """A property: of hosts made from pieces of the known ones, only the known ones themselves are led."""
    random_of = random.Random(19)
    known = {
        "api.openai.com",
        "api.anthropic.com",
        "generativelanguage.googleapis.com",
        "api.together.ai",
        "api.together.xyz",
        "api.fireworks.ai",
        "api.deepseek.com",
        "bedrock-runtime.us-east-1.amazonaws.com",
    }
    labels = sorted({label for name in known for label in name.split(".")}) + ["evil", "xn--penai-8ve", "eu", ""]
    tollgate.install("http://127.0.0.1:9", "tgk_test")
    try:
        led = 0
        for _ in range(5_000):
            host = ".".join(random_of.choice(labels) for _ in range(random_of.randint(1, 5)))
            if random_of.random() < 0.3:
                host = random_of.choice(sorted(known))
                place = random_of.randrange(len(host) + 1)
                host = host[:place] + random_of.choice(string.printable[:70] + "%@#?/\\ \n") + host[place:]
            scheme = random_of.choice(["https", "wss", "http", "ws", "ftp"])
            port = random_of.choice([None, 443, 80, 8443])
            found = lead(scheme, host, port, "/v1/x", (), random_of.choice(["", "Bearer x"]))
            expected = host.lower() in known and scheme in ("https", "wss") and port in (None, 443)
            assert (found is not None) == expected, (scheme, host, port)
            if found is not None:
                led += 1
                assert found.url in ("http://127.0.0.1:9/v1/x", "ws://127.0.0.1:9/v1/x")
        assert led > 0
        # What an SDK reports about itself, in the background.
        assert lead("https", "api.openai.com", None, "/v1/traces/ingest", (), "") is None
    finally:
        tollgate.uninstall()


@every_sender
def test_with_the_gateway_away_a_call_fails(send: Sender) -> None:
    tollgate.install("http://127.0.0.1:9", "tgk_test")
    try:
        with pytest.raises(Exception, match=r"(?i)connect"):
            send(CHAT, {})
    finally:
        tollgate.uninstall()


@every_sender
def test_with_the_gateway_away_and_fail_open_a_call_goes_to_the_provider(
    stranger: Recorder, send: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tollgate import _lead

    # The stranger stands for a provider that is reached without TLS.
    host, port = stranger.url.removeprefix("http://").split(":")
    real = _lead.lead

    def lead_the_stranger(scheme: str, to: str, at: int | None, *rest: Any) -> Any:
        return real("https", "api.openai.com", 443, *rest) if (to, at) == (host, int(port)) else real(scheme, to, at, *rest)

    for name in ("httpx", "requests", "aiohttp"):
        monkeypatch.setattr(f"tollgate.libraries.{name}.lead", lead_the_stranger)
    tollgate.install("http://127.0.0.1:9", "tgk_test", fail_open=True)
    try:
        with tollgate.run("r"):
            send(f"{stranger.url}/v1/models", {"Authorization": "Bearer sk-test"})
    finally:
        tollgate.uninstall()
    [request] = stranger.requests
    assert (request.of_ours, request.headers["authorization"], request.body) == ({}, "Bearer sk-test", BODY)


@every_sender
def test_a_proxy_for_the_provider_is_not_one_for_the_gateway(
    gateway: Recorder, send: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    send(CHAT, {})
    assert len(gateway.requests) == 1


def test_twice_is_once_and_uninstall_gives_everything_back(gateway: Recorder) -> None:
    import httpx

    installed = httpx.Client._send_single_request
    tollgate.install(gateway.url, "tgk_test")
    assert httpx.Client._send_single_request is installed
    send_httpx(CHAT, {})
    assert len(gateway.requests) == 1
    tollgate.uninstall()
    assert httpx.Client._send_single_request is not installed
    assert "tollgate" not in httpx.Client._send_single_request.__module__


def test_what_wrapped_a_library_since_stays(gateway: Recorder) -> None:
    import httpx

    ours = httpx.Client._send_single_request
    calls: list[str] = []

    def theirs(self: Any, request: Any) -> Any:
        calls.append("theirs")
        return ours(self, request)

    httpx.Client._send_single_request = theirs  # type: ignore[method-assign]
    try:
        tollgate.uninstall()
        tollgate.install(gateway.url, "tgk_test")
        send_httpx(CHAT, {})
        assert (calls, len(gateway.requests)) == (["theirs"], 1)
    finally:
        tollgate.uninstall()
        httpx.Client._send_single_request = vars(ours)["__wrapped__"]  # type: ignore[method-assign]


@pytest.mark.parametrize("library", ["httpx", "httpx2", "requests", "aiohttp", "botocore.httpsession", "websockets"])
def test_install_may_come_before_the_library(library: str) -> None:
    program = f"""
import sys, tollgate
tollgate.install("http://127.0.0.1:9", "tgk_test")
assert {library!r} not in sys.modules
import {library}
import importlib, inspect
module = sys.modules[{library!r}]
assert "Tells" not in type(module.__spec__.loader).__name__
from tollgate import _patches
print(len(_patches._wrapped) - 2)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (out.stdout.strip() != "0") == (library != "websockets"), out.stdout


def test_one_that_does_not_use_a_library_does_not_load_it() -> None:
    program = 'import sys, tollgate; tollgate.install("http://127.0.0.1:9", "tgk_test"); print([name for name in ("httpx", "requests", "aiohttp", "botocore") if name in sys.modules])'
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
