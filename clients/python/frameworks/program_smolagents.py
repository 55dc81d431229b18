"""smolagents: an agent with a tool that calls."""

import tollgate

tollgate.install()

from smolagents import OpenAIModel, ToolCallingAgent, tool
from two_runs import in_threads

model = OpenAIModel("gpt-4o-mini")


@tool
def weather(text: str) -> str:
    """Says the weather.

    Args:
        text: where
    """
    model([{"role": "user", "content": [{"type": "text", "text": "inside"}]}])
    return "sunny"


def work() -> None:
    ToolCallingAgent([weather], model, name="asker", max_steps=1).run("go")


in_threads(work)
