"""Whether requests of this moment go past the gateway, after it could not be reached and `fail_open` was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_past: ContextVar[bool] = ContextVar("tollgate_bypass", default=False)


@contextmanager
def past_the_gateway() -> Iterator[None]:
    token = _is_past.set(True)
    try:
        yield
    finally:
        _is_past.reset(token)


def goes_past_the_gateway() -> bool:
    return _is_past.get()
