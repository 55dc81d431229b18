"""LangChain and LangGraph: nodes and agents from the configuration that every runnable has at hand; tools as steps."""

from __future__ import annotations

from types import ModuleType

from .position import Position, Reader
from .scopes import steps_around


def attach_tools(module: ModuleType) -> None:
    steps_around(module.BaseTool, ("run", "arun"), lambda tool: tool.name)


def read_by(module: ModuleType) -> Reader:
    variable = module.var_child_runnable_config

    def read() -> Position:
        config = variable.get() or {}
        metadata = config.get("metadata") or {}
        # `ask:UUID|model:UUID`: a node, and a node of the graph inside.
        namespace = metadata.get("langgraph_checkpoint_ns") or ""
        names = [part.rpartition(":")[0] or part for part in namespace.split("|") if part]
        names = [name for name in names if not name.isdigit()]
        agent = metadata.get("lc_agent_name")
        if agent:
            names.insert(max(len(names) - 1, 0), agent)
        thread = metadata.get("thread_id") or (config.get("configurable") or {}).get("thread_id")
        return Position(str(thread) if thread is not None else None, tuple(names))

    return read
