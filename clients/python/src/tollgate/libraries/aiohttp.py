"""aiohttp: `ClientRequest`, of which a session makes one for each hop, redirects included."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from .. import _state
from .._bypass import goes_past_the_gateway, past_the_gateway
from .._lead import lead
from .._patches import wrap


def attach(module: ModuleType) -> None:
    from multidict import CIMultiDict
    from yarl import URL

    def around(original: Any) -> Any:
        @functools.wraps(original)
        def init(self: Any, method: str, url: Any, *args: Any, **kwargs: Any) -> None:
            params = kwargs.get("params")
            whole = url.extend_query(params) if params else url
            headers = CIMultiDict(kwargs.get("headers") or {})
            led = None if goes_past_the_gateway() else lead(whole.scheme, whole.host or "", whole.port, whole.raw_path_qs, headers, headers.get("Authorization", ""))
            if led is not None:
                if led.keeps_host:
                    headers.setdefault("Host", whole.host if whole.is_default_port() else f"{whole.host}:{whole.port}")
                headers.update(led.headers)
                kwargs |= {"headers": headers, "params": None}
                if _is_past_proxies(led.url):
                    kwargs |= {"proxy": None, "proxy_auth": None}
                kwargs.pop("server_hostname", None)
                url = URL(led.url, encoded=True)
            original(self, method, url, *args, **kwargs)

        return init

    wrap(module.ClientRequest, "__init__", around)


def attach_session(module: ModuleType) -> None:
    unreached = (module.ClientConnectorError, module.ConnectionTimeoutError)

    def around(original: Any) -> Any:
        @functools.wraps(original)
        async def request(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return await original(self, *args, **kwargs)
            except unreached:
                if _state.settings is None or not _state.settings.fail_open:
                    raise
                with past_the_gateway():
                    return await original(self, *args, **kwargs)

        return request

    wrap(module.ClientSession, "_request", around)


def _is_past_proxies(url: str) -> bool:
    return bool(proxy_bypass(urlsplit(url).hostname or ""))
