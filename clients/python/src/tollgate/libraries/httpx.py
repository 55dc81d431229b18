"""
httpx and httpx2, which are one library under two names: `_send_single_request`, which each redirect passes too. What is
sent is a copy, so a redirect is built from the original request and takes no key along.
"""

from __future__ import annotations

import functools
import ssl
from types import ModuleType
from typing import Any

from .._conceal import conceal_in
from .._lead import Led, lead
from .._patches import wrap


def attach(module: ModuleType) -> None:
    def sync(original: Any) -> Any:
        @functools.wraps(original)
        def send(self: Any, request: Any) -> Any:
            led = _lead(request)
            if led is None:
                return original(self, request)
            try:
                response = original(self, _copy(module, request, led))
            except Exception as error:
                _give_back(error, request)
                if not (led.may_go_straight and _is_unreached(module, error)):
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
            except Exception as error:
                _give_back(error, request)
                if not (led.may_go_straight and _is_unreached(module, error)):
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


def _is_unreached(module: ModuleType, error: BaseException) -> bool:
    """A gateway whose certificate is not accepted has been reached, and somebody should hear of it."""
    if not isinstance(error, (module.ConnectError, module.ConnectTimeout)):
        return False
    came_from: BaseException | None = error
    while came_from is not None and not isinstance(came_from, ssl.SSLError):
        came_from = came_from.__cause__ or came_from.__context__
    return came_from is None


def _give_back(error: BaseException, request: Any) -> None:
    """An error holds the request: the program's, not the copy with the key."""
    if hasattr(type(error), "request"):
        error.request = request  # type: ignore[attr-defined]
    conceal_in(error)
