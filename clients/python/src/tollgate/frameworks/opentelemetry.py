"""
OpenTelemetry: agents and tools from the spans that a framework opens (PydanticAI, ADK, Strands, AutoGen, and whatever has an
instrumentation), by the names of its conventions for generative AI. No provider is set up and nothing is exported: where
the program has none, the spans that do nothing are made to remember their names, and still tell nobody.
"""

from __future__ import annotations

import functools
import uuid
import weakref
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .._patches import wrap
from .position import MAX_DEPTH, NOWHERE, Position, Reader

_OPERATION = "gen_ai.operation.name"
_MEMORY = "_tollgate_memory"


class _Memory:
    """What a span is about, and the memory of the span around it. `attributes` is asked late: some are set late."""

    __slots__ = ("span_name", "attributes", "parent", "run_id")

    def __init__(self, span_name: str, attributes: Callable[[], Mapping[str, Any]], parent: _Memory | None, run_id: str) -> None:
        self.span_name = span_name
        self.attributes = attributes
        self.parent = parent
        self.run_id = run_id


def attach_sdk(module: ModuleType) -> None:
    from opentelemetry import trace

    def around(original: Any) -> Any:
        @functools.wraps(original)
        def start_span(self: Any, name: str, context: Any = None, *args: Any, **kwargs: Any) -> Any:
            span = original(self, name, context, *args, **kwargs)
            parent = getattr(trace.get_current_span(context), _MEMORY, None)
            span_context = span.get_span_context()
            run_id = parent.run_id if parent is not None else format(span_context.trace_id, "032x")
            try:
                setattr(span, _MEMORY, _Memory(name, _attributes_of(span), parent, run_id))
            except AttributeError:
                # A span of another implementation, without room for it.
                pass
            return span

        return start_span

    wrap(module.Tracer, "start_span", around)


def _attributes_of(span: Any) -> Callable[[], Mapping[str, Any]]:
    # Weak: what a span holds must be free when it has been exported. While it is current, somebody holds it.
    to = weakref.ref(span)
    return lambda: getattr(to(), "attributes", None) or {}


def read_by(module: ModuleType) -> Reader:
    _remember_where_nothing_is_recorded(module)

    def read() -> Position:
        span = module.get_current_span()
        memory: _Memory | None = getattr(span, _MEMORY, None)
        if memory is None:
            return NOWHERE
        names: list[str] = []
        run_id: str | None = None
        for _ in range(MAX_DEPTH):
            if memory is None:
                break
            name = _step_name(memory)
            # Some frameworks open two spans for one agent.
            if name is not None and (not names or names[-1] != name):
                names.append(name)
            run_id = memory.run_id
            memory = memory.parent
        return Position(run_id if names else None, tuple(reversed(names)))

    return read


def _step_name(memory: _Memory) -> str | None:
    attributes = memory.attributes()
    kind = attributes.get("openinference.span.kind")
    if kind in ("AGENT", "TOOL"):
        return memory.span_name
    operation = attributes.get(_OPERATION)
    if operation == "execute_tool" or "gen_ai.tool.name" in attributes:
        name = attributes.get("gen_ai.tool.name")
    elif operation in (None, "invoke_agent"):
        name = attributes.get("gen_ai.agent.name") or attributes.get("agent_name")
    else:
        return None
    return str(name) if name else None


def _remember_where_nothing_is_recorded(module: ModuleType) -> None:
    class NamedSpan(module.NonRecordingSpan):  # type: ignore[misc,name-defined]
        """Has the context of the span around it, as one that does nothing has."""

        def set_attribute(self, key: str, value: Any) -> None:
            _keep(getattr(self, _MEMORY).attributes(), key, value)

        def set_attributes(self, attributes: Any) -> None:
            for key, value in attributes.items():
                self.set_attribute(key, value)

    def around_start(original: Any) -> Any:
        @functools.wraps(original)
        def start_span(self: Any, name: str, context: Any = None, kind: Any = None, attributes: Any = None, *args: Any, **kwargs: Any) -> Any:
            around = module.get_current_span(context)
            parent = getattr(around, _MEMORY, None)
            span = NamedSpan(around.get_span_context())
            kept: dict[str, Any] = {}
            for key, value in (attributes or {}).items():
                _keep(kept, key, value)
            setattr(span, _MEMORY, _Memory(name, lambda: kept, parent, parent.run_id if parent else str(uuid.uuid4())))
            return span

        return start_span

    def around_current(original: Any) -> Any:
        from opentelemetry.util._decorator import _agnosticcontextmanager

        def start_as_current_span(
            self: Any,
            name: str,
            context: Any = None,
            kind: Any = module.SpanKind.INTERNAL,
            attributes: Any = None,
            links: Any = None,
            start_time: Any = None,
            record_exception: bool = True,
            set_status_on_exception: bool = True,
            end_on_exit: bool = True,
        ) -> Any:
            span = self.start_span(name, context, kind, attributes)
            with module.use_span(span, end_on_exit, record_exception, set_status_on_exception):
                yield span

        return functools.wraps(original)(_agnosticcontextmanager(start_as_current_span))

    wrap(module.NoOpTracer, "start_span", around_start)
    wrap(module.NoOpTracer, "start_as_current_span", around_current)


_KEPT = frozenset({_OPERATION, "gen_ai.tool.name", "gen_ai.agent.name", "agent_name", "openinference.span.kind"})


def _keep(attributes: dict[str, Any], key: str, value: Any) -> None:
    # The others may be prompts.
    if key in _KEPT:
        attributes[key] = value
