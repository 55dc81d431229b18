"""From names and values in a program to headers of the gateway."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

# A long header would make the call fail.
MAX_VALUE_CHARACTERS = 4_000
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
    if text.isascii() and text.isprintable() and text == text.strip():
        return text[:MAX_VALUE_CHARACTERS].rstrip()
    return _cut(f"UTF-8''{_encode(text[:MAX_VALUE_CHARACTERS])}", MAX_VALUE_CHARACTERS)


def header_safe_id(run_id: str) -> str:
    """An id that could be a header's value stays as it is, so that it can be looked up; else it is percent-encoded."""
    text = run_id.strip()
    safe = text if text.isascii() and text.isprintable() else _encode(text, " !#$&'()*+,/:;=?@[]{}|")
    if len(safe) <= MAX_VALUE_CHARACTERS:
        return safe
    # Runs stay apart, as in the gateway, which cuts ids too.
    return f"{_cut(safe, MAX_VALUE_CHARACTERS - 65)}~{hashlib.sha256(safe.encode()).hexdigest()}"


def encode_path(names: Iterable[str]) -> str:
    """Names beyond MAX_VALUE_CHARACTERS are left out, innermost first."""
    path = ""
    for name in names:
        part = _encode(name.strip()[:MAX_NAME_CHARACTERS])
        if not part:
            continue
        longer = f"{path}/{part}" if path else part
        if len(longer) > MAX_VALUE_CHARACTERS:
            break
        path = longer
    return path


def _encode(text: str, safe: str = "") -> str:
    """What has no place in UTF-8 (half of a surrogate pair, as in names of files) or in the log (NUL) is replaced."""
    return quote(re.sub("[\0\ud800-\udfff]", "\ufffd", text), safe=safe)


def _cut(encoded: str, limit: int) -> str:
    """At a character's boundary."""
    if len(encoded) <= limit:
        return encoded
    cut = re.sub("%.?$", "", encoded[:limit])
    while re.match("%[89AB]", encoded[len(cut) :]):
        # What follows goes on with a character that has begun.
        cut = cut[:-3]
    return cut
