"""Functions of others that are wrapped while Tollgate is installed, and given back afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_wrapped: list[tuple[Any, str, Any, Any]] = []


def wrap(owner: Any, name: str, around: Callable[[Any], Any]) -> None:
    """`around` is given the function that `owner` has under `name` (also as a method) and returns what replaces it."""
    replace(owner, name, around(vars(owner)[name]))


def replace(owner: Any, name: str, replaced: Any) -> None:
    _wrapped.append((owner, name, vars(owner)[name], replaced))
    setattr(owner, name, replaced)


def unwrap_all() -> None:
    while _wrapped:
        owner, name, original, replaced = _wrapped.pop()
        # Somebody may have wrapped it again since: then ours stays beneath, and does nothing without settings.
        if vars(owner).get(name) is replaced:
            setattr(owner, name, original)
