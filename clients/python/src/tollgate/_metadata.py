"""From names and values in a program to headers of the gateway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

MAX_PATH_BYTES = 4_000
MAX_NAME_CHARACTERS = 200
RESERVED = frozenset({"key", "provider", "provider-alias", "client", "trace-id", "span-path", "span-name"})


def metadata_headers(metadata: Mapping[str, object]) -> dict[str, str]:
    """Raises ValueError for a name that is reserved or cannot be one of a header. A value of None is left out."""
    return {_header_name(name): _header_value(value) for name, value in metadata.items() if value is not None}


def _header_name(name: str) -> str:
    # Underscores in names of headers are dropped by many proxies.
    words = [word[:1].upper() + word[1:] for word in name.split("_") if word]
    if not words or not name.isascii() or not all(word.isalnum() for word in words):
        raise ValueError(f"{name!r} cannot be the name of metadata: letters, digits and underscores only")
    joined = "-".join(words)
    if joined.lower() in RESERVED:
        raise ValueError(f"{name!r} cannot be the name of metadata: the gateway reserves it")
    return f"X-Gateway-{joined}"


def _header_value(value: object) -> str:
    """In the form of RFC 8187 where a header could not have it."""
    text = str(value)
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return text if plain else f"UTF-8''{quote(text, safe='')}"


def header_safe_id(run_id: str) -> str:
    """An id that could be a header's value stays as it is, so that it can be looked up; else it is percent-encoded."""
    text = run_id.strip()
    return text if text.isascii() and text.isprintable() else quote(text, safe=" !#$&'()*+,/:;=?@[]{}|")


def encode_path(names: Iterable[str]) -> str:
    """Names beyond MAX_PATH_BYTES are left out, innermost first: a long header would make the call fail."""
    path = ""
    for name in names:
        part = quote(name.strip()[:MAX_NAME_CHARACTERS], safe="")
        if not part:
            continue
        longer = f"{path}/{part}" if path else part
        if len(longer) > MAX_PATH_BYTES:
            break
        path = longer
    return path
