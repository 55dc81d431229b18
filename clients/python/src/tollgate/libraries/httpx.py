"""
httpx and httpx2, which are one library under two names: `_send_single_request`, which each redirect passes too. What is
sent is a copy, so a redirect is built from the original request and takes no key along.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from .. import _state
from .._lead import Led, lead
from .._patches import wrap


def attach(module: ModuleType) -> None:
    unreached = (module.ConnectError, module.ConnectTimeout)

    def sync(original: Any) -> Any:
        @functools.wraps(original)
        def send(self: Any, request: Any) -> Any:
            led = _lead(request)
            if led is None:
                return original(self, request)
            try:
                response = original(self, _copy(module, request, led))
            except unreached:
                if not _fails_open():
                    raise
                return original(self, request)
            response.request = request
            return response

        return send

    def asynchronous(original: Any) -> Any:
        @functools.wraps(original)
        async def send(self: Any, request: Any) -> Any:
            led = _lead(request)
            if led is None:
                return await original(self, request)
            try:
                response = await original(self, _copy(module, request, led))
            except unreached:
                if not _fails_open():
                    raise
                return await original(self, request)
            response.request = request
            return response

        return send

    wrap(module.Client, "_send_single_request", sync)
    wrap(module.AsyncClient, "_send_single_request", asynchronous)


def _lead(request: Any) -> Led | None:
    url = request.url
    target = url.raw_path.decode("ascii")
    return lead(url.scheme, url.host, url.port, target, request.headers, request.headers.get("authorization", ""))


def _copy(module: ModuleType, request: Any, led: Led) -> Any:
    host = led.host.encode("ascii")
    headers = [
        (name, host if name.lower() == b"host" and not led.keeps_host else value)
        for name, value in request.headers.raw
    ]
    headers += [(name.encode("ascii"), value.encode("ascii")) for name, value in led.headers.items()]
    extensions = {name: value for name, value in request.extensions.items() if name != "sni_hostname"}
    return module.Request(request.method, led.url, headers=headers, stream=request.stream, extensions=extensions)


def _fails_open() -> bool:
    return _state.settings is not None and _state.settings.fail_open
