"""
websockets: the address where a connection is opened, and the headers where the handshake is made. A redirect makes its
own handshake, so the key stays with the gateway.
"""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._lead import lead
from .._patches import wrap


def attach_connect(module: ModuleType) -> None:
    """A class opens connections: `connect` for tasks, `reconnect` for threads, where older versions have a function."""

    def around_init(original: Any) -> Any:
        @functools.wraps(original)
        def init(self: Any, uri: str, *args: Any, **kwargs: Any) -> None:
            before = kwargs.get("additional_headers")
            led = _led_address(uri, kwargs)
            original(self, led, *args, **kwargs)
            if led != uri:
                self.tollgate_led = (uri, led, kwargs.get("additional_headers") is not before)

        return init

    def around_redirect(original: Any) -> Any:
        @functools.wraps(original)
        def process_redirect(self: Any, exc: Exception) -> Any:
            asked, led, has_provider = vars(self).pop("tollgate_led", (None, None, False))
            if asked is None or self.uri != led:
                return original(self, exc)
            # What the gateway passes on is an answer of the provider, relative to the provider's address.
            self.uri = asked
            parsed = vars(self).get("ws_uri")
            if parsed is not None:
                self.ws_uri = module.parse_uri(asked)
            found = original(self, exc)
            self.uri = led
            if parsed is not None:
                self.ws_uri = parsed
            if isinstance(found, Exception):
                return found
            # Versions before 14 hold the headers where they cannot be reached.
            kwargs = {"additional_headers": _without_provider(self) if has_provider else _headers(self)}
            given = kwargs["additional_headers"]
            to = _led_address(found, kwargs)
            if hasattr(self, "additional_headers"):
                self.additional_headers = kwargs["additional_headers"]
            if to != found:
                self.tollgate_led = (found, to, kwargs["additional_headers"] is not given)
            return to

        return process_redirect

    def around_function(original: Any) -> Any:
        @functools.wraps(original)
        def connect(uri: str, *args: Any, **kwargs: Any) -> Any:
            return original(_led_address(uri, kwargs), *args, **kwargs)

        return connect

    opener = module.connect if inspect.isclass(module.connect) else getattr(module, "reconnect", None)
    if opener is not None:
        wrap(opener, "__init__", around_init)
        if "process_redirect" in vars(opener):
            wrap(opener, "process_redirect", around_redirect)
    else:
        wrap(module, "connect", around_function)


def _headers(opener: Any) -> Any:
    return getattr(opener, "additional_headers", None)


def _without_provider(opener: Any) -> list[tuple[str, str]]:
    given = _headers(opener) or []
    pairs = given.raw_items() if hasattr(given, "raw_items") else given
    return [(name, value) for name, value in pairs if name.lower() != "x-gateway-provider"]


def _led_address(uri: str, kwargs: dict[str, Any]) -> str:
    url = urlsplit(uri)
    led = lead(url.scheme, url.hostname or "", url.port, _target(url), (), "")
    if led is None:
        return uri
    # No secret, and taken out again where a redirect is followed.
    provider = led.headers.get("X-Gateway-Provider")
    given: Any = kwargs.get("additional_headers") or []
    pairs = list(given.raw_items() if hasattr(given, "raw_items") else given.items() if hasattr(given, "items") else given)
    if provider is not None and not any(name.lower() == "x-gateway-provider" for name, _ in pairs):
        kwargs["additional_headers"] = [*pairs, ("X-Gateway-Provider", provider)]
    if led.url.startswith("ws:"):
        for name in ("ssl", "ssl_context", "server_hostname"):
            kwargs.pop(name, None)
    return led.url


def attach_protocol(module: ModuleType) -> None:
    def around(original: Any) -> Any:
        @functools.wraps(original)
        def send_request(self: Any, request: Any) -> Any:
            uri = self.uri if hasattr(self, "uri") else self.wsuri
            place = ("wss" if uri.secure else "ws", uri.host, uri.port, request.path)
            led = lead(*place, (), "")
            # A provider's own host is here only where its address was not led.
            if led is not None and "X-Gateway-Provider" not in led.headers:
                # The caller's own headers are there by now, and win.
                missing = lead(*place, request.headers, "")
                for name, value in missing.headers.items() if missing is not None else ():
                    request.headers[name] = value
            return original(self, request)

        return send_request

    wrap(module.ClientProtocol, "send_request", around)


def _target(url: Any) -> str:
    return (url.path or "/") + (f"?{url.query}" if url.query else "")
