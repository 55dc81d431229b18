"""One file for each framework: where is it, when a request is sent? Nothing must be passed through the program."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from . import crewai, dspy, langchain, llama_index, openai_agents, opentelemetry, pydantic_ai, smolagents
from .position import NOWHERE, Position, Reader

# In the order in which they stand in one another: an agent's own library runs inside of a graph's node.
READERS: dict[str, Callable[[ModuleType], Reader]] = {
    "langchain_core.runnables.config": langchain.read_by,
    "agents.run": openai_agents.read_by,
    "opentelemetry.trace": opentelemetry.read_by,
}

# Those that open steps, or spans that a reader knows.
ATTACHED: dict[str, Callable[[ModuleType], None]] = {
    "langchain_core.tools.base": langchain.attach_tools,
    "opentelemetry.sdk.trace": opentelemetry.attach_sdk,
    "pydantic_ai.agent": pydantic_ai.attach,
    "crewai.crew": crewai.attach_crew,
    "crewai.task": crewai.attach_task,
    "crewai.agent.core": crewai.attach_agent,
    "smolagents.agents": smolagents.attach_agents,
    "smolagents.tools": smolagents.attach_tools,
    "llama_index.core.tools.function_tool": llama_index.attach_tools,
    "dspy.primitives.module": dspy.attach,
}


class Frameworks:
    """The readers of the frameworks that the program has imported."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}

    def listeners(self) -> dict[str, Callable[[ModuleType], None]]:
        return {**{name: self._listener(name, read_by) for name, read_by in READERS.items()}, **ATTACHED}

    def _listener(self, name: str, read_by: Callable[[ModuleType], Reader]) -> Callable[[ModuleType], None]:
        def listen(module: ModuleType) -> None:
            self._readers[name] = read_by(module)

        return listen

    def read(self) -> Position:
        if not self._readers:
            return NOWHERE
        run_id: str | None = None
        names: list[str] = []
        for name in READERS:
            reader = self._readers.get(name)
            if reader is None:
                continue
            try:
                position = reader()
            except Exception:
                # A version that this one does not know: a call must not fail for its place in a tree.
                continue
            run_id = run_id or position.run_id
            names += position.names
        return Position(run_id, tuple(names))

    def forget(self) -> None:
        self._readers.clear()
