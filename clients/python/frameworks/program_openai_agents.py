"""OpenAI Agents: a handoff, and an agent as a tool of another."""

import tollgate

tollgate.install()

from agents import Agent, Runner, function_tool
from two_runs import in_tasks


@function_tool
async def weather(text: str) -> str:
    from openai import AsyncOpenAI

    await AsyncOpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    return "sunny"


helper = Agent(name="helper", tools=[weather], model="gpt-4o-mini")
boss = Agent(name="boss", tools=[helper.as_tool("helper", "asks the helper")], model="gpt-4o-mini")
triage = Agent(name="triage", handoffs=[helper], model="gpt-4o-mini")


async def work() -> None:
    await Runner.run(boss, "go")
    await Runner.run(triage, "go")


in_tasks(work)
