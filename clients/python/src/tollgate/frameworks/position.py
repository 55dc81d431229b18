"""What a framework answers when it is asked where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Of spans inside of spans; beyond that the outer ones are left out.
MAX_DEPTH = 200


@dataclass(frozen=True)
class Position:
    """`run_id` is the framework's own name of what runs, None where it has none; `names` from the outermost inwards."""

    run_id: str | None
    names: tuple[str, ...]


NOWHERE = Position(None, ())
Reader = Callable[[], Position]
