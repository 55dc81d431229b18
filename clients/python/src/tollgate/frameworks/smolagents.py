"""smolagents: agents and tools, as steps around their own methods."""

from __future__ import annotations

from types import ModuleType

from .scopes import steps_around


def attach_agents(module: ModuleType) -> None:
    steps_around(module.MultiStepAgent, ("run",), lambda agent: agent.name, opens_run=True)


def attach_tools(module: ModuleType) -> None:
    steps_around(module.Tool, ("__call__",), lambda tool: tool.name)
