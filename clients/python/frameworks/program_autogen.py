"""AutoGen: two agents in a team, one with a tool."""

import tollgate

tollgate.install()

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from two_runs import in_tasks


async def weather(text: str) -> str:
    """Says the weather."""
    return "sunny"


async def work() -> None:
    model = OpenAIChatCompletionClient(model="gpt-4o-mini")
    first = AssistantAgent("first", model, tools=[weather], reflect_on_tool_use=True)
    second = AssistantAgent("second", model)
    await RoundRobinGroupChat([first, second], max_turns=2).run(task="go")


in_tasks(work)
