"""CrewAI: crew, task, agent. It keeps nowhere what runs, so these are steps around its own methods."""

from __future__ import annotations

from types import ModuleType

from .scopes import steps_around


def attach_crew(module: ModuleType) -> None:
    steps_around(module.Crew, ("kickoff", "akickoff"), lambda crew: crew.name, opens_run=True)


def attach_task(module: ModuleType) -> None:
    # A description is text of a prompt; only what the developer calls a name is one.
    steps_around(module.Task, ("_execute_core", "_aexecute_core"), lambda task: task.name or "task")


def attach_agent(module: ModuleType) -> None:
    steps_around(module.Agent, ("execute_task", "aexecute_task"), lambda agent: agent.role.strip())
