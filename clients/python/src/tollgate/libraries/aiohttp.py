"""aiohttp: `ClientRequest`, of which a session makes one for each hop, redirects included."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from .._conceal import conceal
from .._lead import Led, lead
from .._patches import wrap


@dataclass(frozen=True)
class _Asked:
    """The request as the program made it. `host` is its own header, None where that is the address."""

    led: Led
    url: Any
    host: str | None
    kwargs: dict[str, Any] = field(repr=False)


def attach(module: ModuleType) -> None:
    from multidict import CIMultiDict, CIMultiDictProxy
    from yarl import URL

    def around(original: Any) -> Any:
        @functools.wraps(original)
        def init(self: Any, method: str, url: Any, *args: Any, **kwargs: Any) -> None:
            params = kwargs.get("params")
            whole = url.extend_query(params) if params else url
            headers = CIMultiDict(kwargs.get("headers") or {})
            led = lead(
                whole.scheme, whole.host or "", whole.port, whole.raw_path_qs, headers, headers.get("Authorization", "")
            )
            if led is None:
                original(self, method, url, *args, **kwargs)
                return
            asked = _Asked(led, whole, headers.get("Host"), dict(kwargs))
            if led.keeps_host:
                headers.setdefault("Host", _host(whole))
            headers.update(led.headers)
            kwargs |= {"headers": headers, "params": None}
            if _is_past_proxies(led.url):
                kwargs |= {"proxy": None, "proxy_auth": None}
            kwargs.pop("server_hostname", None)
            original(self, method, URL(led.url, encoded=True), *args, **kwargs)
            self.tollgate_asked = asked
            # The answer takes its address from this one.
            self.original_url = whole

        return init

    def around_info(original: Any) -> Any:
        def request_info(self: Any) -> Any:
            asked = _asked(self)
            if asked is None:
                return original.fget(self)
            headers = CIMultiDict(self.headers)
            _take_out(headers, asked)
            url = asked.url.with_fragment(None)
            return module.RequestInfo(url, self.method, CIMultiDictProxy(headers), asked.url)

        return property(request_info)

    wrap(module.ClientRequest, "__init__", around)
    wrap(module.ClientRequest, "request_info", around_info)


def attach_connector(module: ModuleType) -> None:
    """`connect`, before which nothing of a request has been sent."""
    from aiohttp.client_exceptions import ClientConnectorError, ClientSSLError
    from yarl import URL

    def around(original: Any) -> Any:
        @functools.wraps(original)
        async def connect(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
            asked = _asked(req)
            if asked is None:
                return await original(self, req, *args, **kwargs)
            try:
                return await original(self, req, *args, **kwargs)
            except (ClientConnectorError, asyncio.TimeoutError) as error:
                # A gateway whose certificate is not accepted has been reached, and somebody should hear of it.
                if not asked.led.may_go_straight or isinstance(error, ClientSSLError):
                    req.url = URL(conceal(str(req.url)))
                    raise
            _send_straight(req, asked)
            return await original(self, req, *args, **kwargs)

        return connect

    wrap(module.BaseConnector, "connect", around)


def _send_straight(req: Any, asked: _Asked) -> None:
    """The same request object, since the session goes on with it."""
    del req.tollgate_asked
    req.url = asked.url.with_fragment(None)
    _take_out(req.headers, asked)
    kwargs = asked.kwargs
    req.update_proxy(kwargs.get("proxy"), kwargs.get("proxy_auth"), kwargs.get("proxy_headers"))
    req.server_hostname = kwargs.get("server_hostname")


def _take_out(headers: Any, asked: _Asked) -> None:
    for name in asked.led.headers:
        headers.popall(name, None)
    headers["Host"] = asked.host or _host(asked.url)


def _asked(req: Any) -> _Asked | None:
    found = vars(req).get("tollgate_asked")
    return found if isinstance(found, _Asked) else None


def _host(url: Any) -> str:
    host = f"[{url.raw_host}]" if ":" in url.raw_host else url.raw_host
    return host if url.is_default_port() else f"{host}:{url.port}"


def _is_past_proxies(url: str) -> bool:
    return bool(proxy_bypass(urlsplit(url).hostname or ""))
