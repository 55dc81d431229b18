"""PydanticAI: an agent whose tool runs another agent, of another provider."""

from pydantic_ai import Agent
from two_runs import in_tasks

import tollgate

tollgate.install()
joker = Agent("anthropic:claude-sonnet-4-5", name="joker")
selector = Agent("openai-chat:gpt-4o-mini", name="selector")


@selector.tool_plain
async def get_jokes(text: str) -> str:
    return (await joker.run(text)).output


async def work() -> None:
    await selector.run("go")


in_tasks(work)
