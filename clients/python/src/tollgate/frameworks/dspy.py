"""DSPy: modules, as steps around the calls of them; a module of the user's has the name of its class."""

from __future__ import annotations

from types import ModuleType

from .scopes import steps_around


def attach(module: ModuleType) -> None:
    steps_around(module.Module, ("__call__", "acall"), lambda called: type(called).__name__)
