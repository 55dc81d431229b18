"""LlamaIndex: an agent with a tool that calls, in steps by hand."""

import tollgate

tollgate.install()

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from two_runs import in_tasks

model = OpenAI(model="gpt-4o-mini")


async def weather(text: str) -> str:
    """Says the weather."""
    await model.acomplete("inside")
    return "sunny"


async def work() -> None:
    with tollgate.step("plan"):
        await model.acomplete("plan")
    with tollgate.step("agent"):
        await FunctionAgent(tools=[weather], llm=model).run("go")


in_tasks(work)
