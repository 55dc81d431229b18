"""OpenAI Agents: agents and function tools from its spans, also where tracing is off, since those are opened all the same."""

from __future__ import annotations

import functools
import uuid
import weakref
from types import ModuleType
from typing import Any

from .._patches import wrap
from .position import MAX_DEPTH, Position, Reader

KEPT = ("agent", "function")


def read_by(module: ModuleType) -> Reader:
    from agents.tracing import get_current_span, get_current_trace
    from agents.tracing.spans import NoOpSpan, SpanImpl

    parents: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    # A trace that is not exported has no id.
    ids: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def around(original: Any) -> Any:
        @functools.wraps(original)
        def start(self: Any, mark_as_current: bool = False) -> Any:
            if mark_as_current:
                parent = get_current_span()
                if parent is not None:
                    parents[self] = parent
            return original(self, mark_as_current)

        return start

    wrap(SpanImpl, "start", around)
    wrap(NoOpSpan, "start", around)

    def read() -> Position:
        names: list[str] = []
        span = get_current_span()
        for _ in range(MAX_DEPTH):
            if span is None:
                break
            data = span.span_data
            if data.type in KEPT:
                names.append(data.name)
            span = parents.get(span)
        trace = get_current_trace()
        if trace is None or not names:
            return Position(None, tuple(reversed(names)))
        trace_id = trace.trace_id
        if trace_id == "no-op":
            trace_id = ids.setdefault(trace, str(uuid.uuid4()))
        return Position(trace_id, tuple(reversed(names)))

    return read
