"""lm15, the HTTP library that DSPy brings along: `stream` of its transports, which follow no redirects."""

from __future__ import annotations

import dataclasses
import functools
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._lead import lead
from .._patches import wrap


def attach(module: ModuleType) -> None:
    wrap(module.StdlibTransport, "stream", _around)


def attach_async(module: ModuleType) -> None:
    wrap(module.StdlibAsyncTransport, "stream", _around)


def _around(original: Any) -> Any:
    @functools.wraps(original)
    def stream(self: Any, request: Any) -> Any:
        return original(self, _led(request))

    return stream


def _led(request: Any) -> Any:
    url = urlsplit(request.url)
    has = {name.lower(): value for name, value in request.headers}
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    led = lead(url.scheme, url.hostname or "", url.port, target, has, has.get("authorization", ""))
    if led is None:
        return request
    headers = [pair for pair in request.headers if led.keeps_host or pair[0].lower() != "host"]
    if led.keeps_host and "host" not in has:
        headers.append(("Host", url.netloc.rpartition("@")[2]))
    return dataclasses.replace(request, url=led.url, headers=[*headers, *led.headers.items()])
