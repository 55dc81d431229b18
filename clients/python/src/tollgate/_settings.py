"""Where the gateway is and what opens it: arguments of `install()`, else TOLLGATE_URL and TOLLGATE_KEY."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:4141"
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


@dataclass(frozen=True)
class Settings:
    """`prefix` is what stands before every path, without a slash at its end. A key of None is the token in that prefix."""

    scheme: str
    host: str
    port: int
    prefix: str = field(repr=False)
    # A repr ends up in logs and tracebacks.
    key: str | None = field(repr=False)
    fail_open: bool = False

    @property
    def mount(self) -> str:
        """The prefix without a token: where the gateway begins at its host."""
        return self.prefix.partition("/@")[0]

    @property
    def token(self) -> str:
        return self.prefix[len(self.mount) :]

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def base(self) -> str:
        return f"{self.scheme}://{self.authority}{self.prefix}"


def read_settings(url: str | None = None, key: str | None = None, fail_open: bool = False) -> Settings:
    """Raises ValueError where an address or a key is missing or cannot be one; the text has neither."""
    parts = urlsplit(url or os.environ.get("TOLLGATE_URL") or DEFAULT_URL)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("TOLLGATE_URL must be the address of the gateway's proxy port, such as http://127.0.0.1:4141")
    prefix = parts.path.rstrip("/")
    found = (key or os.environ.get("TOLLGATE_KEY") or "").strip()
    if not found and "/@" not in prefix:
        raise ValueError("TOLLGATE_KEY is not set: `tollgate keys create NAME` makes a gateway key")
    if not found.isascii() or not found.isprintable() or " " in found:
        raise ValueError("TOLLGATE_KEY is not a gateway key (tgk_…)")
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    return Settings(parts.scheme, parts.hostname, port, prefix, found or None, fail_open)
