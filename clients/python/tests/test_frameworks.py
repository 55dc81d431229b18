"""Where frameworks say they are: spans of OpenTelemetry, with and without its SDK, and steps around methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import tollgate
from tollgate.frameworks.scopes import steps_around


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    tollgate.install("http://127.0.0.1:9", "tgk_test")
    yield
    tollgate.uninstall()


def path() -> str | None:
    return tollgate.headers().get("X-Gateway-Span-Path")


AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": "secret"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.agent.name": "boss"}


@pytest.mark.parametrize("provider", [None, TracerProvider()], ids=["without SDK", "with SDK"])
def test_spans_of_agents_and_tools_are_steps_and_others_are_not(provider: Any) -> None:
    tracer = provider.get_tracer("t") if provider else trace.NoOpTracer()
    with tracer.start_as_current_span("GET /", attributes={"http.method": "GET"}):
        assert tollgate.headers() == {"X-Gateway-Key": "tgk_test"}
        with tracer.start_as_current_span("invoke_agent boss", attributes=AGENT):
            with tracer.start_as_current_span("chat", attributes=CHAT):
                assert path() == "boss"
            with tracer.start_as_current_span("execute_tool", attributes=TOOL):
                run_id = tollgate.headers()["X-Gateway-Trace-Id"]
                assert len(run_id) >= 32
                with tracer.start_as_current_span("agent") as late, tollgate.step("mine"):
                    assert path() == "boss/search/mine"
                    late.set_attribute("gen_ai.agent.name", "helper")
                    assert path() == "boss/search/mine/helper"
                assert path() == "boss/search"
                assert tollgate.headers()["X-Gateway-Trace-Id"] == run_id
            with tollgate.run("r"):
                assert path() is None
                with tracer.start_as_current_span("execute_tool", attributes=TOOL):
                    assert tollgate.headers()["X-Gateway-Trace-Id"] == "r"
                    assert path() == "search"


def test_a_span_that_does_nothing_has_no_context_to_pass_on() -> None:
    with trace.NoOpTracer().start_as_current_span("invoke_agent boss", attributes=AGENT) as span:
        assert not span.get_span_context().is_valid
        assert not span.is_recording()


def test_steps_around_methods() -> None:
    class Crew:
        name = "report"

        def kickoff(self) -> Any:
            return path(), tollgate.headers().get("X-Gateway-Trace-Id")

        async def akickoff(self) -> Any:
            return path()

        def stream(self) -> Iterator[Any]:
            return (path() for _ in range(1))

    plain = Crew.kickoff
    steps_around(Crew, ("kickoff", "akickoff", "stream", "absent"), lambda crew: crew.name, opens_run=True)
    step, run_id = Crew().kickoff()
    assert (step, len(run_id)) == ("report", 36)
    with tollgate.run("r"):
        assert Crew().kickoff() == ("report", "r")
        made = Crew().stream()
    assert list(made) == ["report"]
    tollgate.uninstall()
    assert Crew.kickoff is plain
