"""PydanticAI opens spans only where it was told to. Told here, they are opened for nobody but the reader of spans."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._patches import replace


def attach(module: ModuleType) -> None:
    from opentelemetry.trace import NoOpTracerProvider
    from pydantic_ai.models.instrumented import InstrumentationSettings

    agent: Any = module.Agent
    # Whoever has instrumented their agents has spans already; a later `instrument_all` of theirs replaces this.
    if agent._instrument_default is False:
        quiet = InstrumentationSettings(tracer_provider=NoOpTracerProvider(), include_content=False)
        replace(agent, "_instrument_default", quiet)
