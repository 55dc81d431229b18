"""The one decision: is a request led to the gateway, and with which headers? No library is named here."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field

from . import _state
from ._headers import place_headers
from ._providers import is_aws_host, is_report, provider_of_host
from ._settings import DEFAULT_PORTS, Settings

_SECURE = {"https": "https", "wss": "https", "http": "http", "ws": "http"}
_UPWARDS = re.compile(r"/(?:\.|%2e){2}(?:/|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Led:
    """
    A request as it is to be sent. `headers` are to be added; of those that the request has, none changes but `Host`,
    which becomes that of the address unless `keeps_host`. `is_elsewhere` says that the program wanted another address
    than the gateway's.
    """

    url: str = field(repr=False)
    host: str
    headers: dict[str, str] = field(repr=False)
    keeps_host: bool
    is_elsewhere: bool = True

    @property
    def may_go_straight(self) -> bool:
        """Where no connection to the gateway can be made, and nothing has been sent."""
        return self.is_elsewhere and _state.settings is not None and _state.settings.fail_open


def lead(scheme: str, host: str, port: int | None, target: str, has: Container[str], authorization: str) -> Led | None:
    """
    None where the request is none of ours: then nothing of it may change.

    `target` is path and query as they go over the wire; `has` knows the request's header names in any case; a
    websocket's scheme stays one.
    """
    settings = _state.settings
    if settings is None or scheme not in _SECURE:
        return None
    host = host.lower()
    port = port or DEFAULT_PORTS[scheme]
    if _is_gateway(settings, scheme, host, port):
        return _to_gateway(settings, scheme, target, has) if _is_under(settings.mount, target) else None
    if _SECURE[scheme] != "https" or port != 443:
        return None
    # A presigned address has its signature in the query.
    is_signed = authorization.startswith("AWS4-") or "X-Amz-Signature=" in target
    provider = provider_of_host(host, is_signed)
    if provider is None or is_report(provider, target):
        return None
    headers = _missing(settings, target, has)
    if "x-gateway-provider" not in has:
        headers["X-Gateway-Provider"] = provider
    return Led(_address(settings, scheme, settings.prefix + target), settings.authority, headers, is_aws_host(host))


def _to_gateway(settings: Settings, scheme: str, target: str, has: Container[str]) -> Led:
    """The user gave the gateway's address; only what is missing is added."""
    return Led(_address(settings, scheme, target), settings.authority, _missing(settings, target, has), True, False)


def _missing(settings: Settings, target: str, has: Container[str]) -> dict[str, str]:
    found = place_headers()
    if "x-gateway-trace-id" in has:
        # The steps here are those of another run.
        found.pop("X-Gateway-Span-Path", None)
    # A token in the address is a key.
    if settings.key is not None and not target.startswith(f"{settings.mount}/@"):
        found["X-Gateway-Key"] = settings.key
    return {name: value for name, value in found.items() if name.lower() not in has}


def _is_gateway(settings: Settings, scheme: str, host: str, port: int) -> bool:
    return (_SECURE[scheme], host, port) == (settings.scheme, settings.host, settings.port)


def _is_under(mount: str, target: str) -> bool:
    """What else is at the gateway's host is a stranger. A server may take `..` as it likes, so it is none of the gateway's."""
    path = re.split("[?#]", target, maxsplit=1)[0]
    return not mount or (f"{path}/".startswith(f"{mount}/") and not _UPWARDS.search(path))


def _address(settings: Settings, scheme: str, target: str) -> str:
    is_socket = scheme in ("ws", "wss")
    to = {"http": "ws", "https": "wss"}[settings.scheme] if is_socket else settings.scheme
    return f"{to}://{settings.authority}{target}"
