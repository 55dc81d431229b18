"""requests: `HTTPAdapter.send`, which each redirect passes too. What is sent is a copy, as for httpx."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._conceal import conceal_in
from .._lead import Led, lead
from .._patches import wrap


def attach(module: ModuleType) -> None:
    import requests

    def around(original: Any) -> Any:
        @functools.wraps(original)
        def send(
            self: Any,
            request: Any,
            stream: bool = False,
            timeout: Any = None,
            verify: Any = True,
            cert: Any = None,
            proxies: Any = None,
        ) -> Any:
            led = _lead(request)
            if led is None:
                return original(self, request, stream, timeout, verify, cert, proxies)
            copy = request.copy()
            copy.url = led.url
            copy.headers.update(led.headers)
            # A proxy for the provider's host is not one for the gateway's.
            past = requests.utils.should_bypass_proxies(led.url, no_proxy=None)
            try:
                response = original(self, copy, stream, timeout, verify, cert, {} if past else proxies)
            except requests.exceptions.RequestException as error:
                error.request = request
                conceal_in(error)
                if not (led.may_go_straight and _is_refused(error) and _tries_once(self, request)):
                    raise
                return original(self, request, stream, timeout, verify, cert, proxies)
            # A redirect is built from both.
            response.request = request
            response.url = request.url
            return response

        return send

    wrap(module.HTTPAdapter, "send", around)


def _lead(request: Any) -> Led | None:
    url = urlsplit(request.url)
    target = request.path_url
    authorization = request.headers.get("Authorization") or ""
    if isinstance(authorization, bytes):
        authorization = authorization.decode("latin-1")
    led = lead(url.scheme, url.hostname or "", url.port, target, request.headers, authorization)
    if led is not None and led.keeps_host and "host" not in request.headers:
        led.headers["Host"] = url.netloc.rpartition("@")[2]
    return led


def _is_refused(error: Any) -> bool:
    """No connection came about, so nothing was sent. A connection that broke is another error of the same class."""
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return type(reason).__name__ in ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError")


def _tries_once(adapter: Any, request: Any) -> bool:
    """With retries of urllib3's, an earlier attempt may have been sent: the error tells of the last one only."""
    retries = adapter.max_retries
    allowed: Any = getattr(retries, "allowed_methods", None)
    return retries.total in (0, False) or bool(allowed and request.method.upper() not in allowed)
