"""LlamaIndex: tools, as steps around their own methods. Its workflows have no place that could be asked for."""

from __future__ import annotations

from types import ModuleType

from .scopes import steps_around


def attach_tools(module: ModuleType) -> None:
    steps_around(module.FunctionTool, ("call", "acall"), lambda tool: tool.metadata.name)
