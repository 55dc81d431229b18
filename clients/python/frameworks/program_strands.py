"""Strands: an agent whose tool is another agent."""

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from two_runs import in_tasks

import tollgate

tollgate.install()


@tool
async def ask(text: str) -> str:
    """Asks."""
    inner = Agent(model=OpenAIModel(model_id="gpt-4o-mini"), name="inner", callback_handler=None)
    return str(await inner.invoke_async(text))


async def work() -> None:
    outer = Agent(model=OpenAIModel(model_id="gpt-4o-mini"), name="outer", tools=[ask], callback_handler=None)
    await outer.invoke_async("go")


in_tasks(work)
