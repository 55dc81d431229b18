"""botocore (boto3): `URLLib3Session.send`, which is behind the signer. The host that was signed for stays in `Host`."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._conceal import conceal_in
from .._lead import lead
from .._patches import wrap


def attach(module: ModuleType) -> None:
    from botocore.awsrequest import AWSPreparedRequest, HeadersDict
    from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError

    def around(original: Any) -> Any:
        @functools.wraps(original)
        def send(self: Any, request: Any) -> Any:
            url = urlsplit(request.url)
            target = (url.path or "/") + (f"?{url.query}" if url.query else "")
            has = {name.lower() for name in request.headers}
            authorization = _text(request.headers.get("Authorization", ""))
            led = lead(url.scheme, url.hostname or "", url.port, target, has, authorization)
            if led is None:
                return original(self, request)
            headers = HeadersDict(request.headers)
            if led.keeps_host:
                headers.setdefault("Host", url.netloc)
            headers.update(led.headers)
            copy = AWSPreparedRequest(request.method, led.url, headers, request.body, request.stream_output)
            if hasattr(request, "context"):
                copy.context = request.context
            try:
                response = original(self, copy)
            except Exception as error:
                held = getattr(error, "kwargs", {})
                if held.get("request") is copy:
                    held["request"] = request
                conceal_in(error)
                if not (led.may_go_straight and isinstance(error, (EndpointConnectionError, ConnectTimeoutError))):
                    raise
                return original(self, request)
            response.url = request.url
            return response

        return send

    wrap(module.URLLib3Session, "send", around)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
