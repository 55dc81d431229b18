"""Claude Agent SDK: its calls are made by another process, which is told by its environment."""

from claude_agent_sdk import ClaudeAgentOptions, query
from two_runs import in_tasks

import tollgate


async def work() -> None:
    with tollgate.step("fix bug"):
        custom = "\n".join(f"{name}: {value}" for name, value in tollgate.headers().items())
        env = {"ANTHROPIC_BASE_URL": tollgate.base_url("anthropic"), "ANTHROPIC_CUSTOM_HEADERS": custom + "\nX-Gateway-Provider: anthropic", "IS_SANDBOX": "1"}
        async for _ in query(prompt="say done", options=ClaudeAgentOptions(env=env, max_turns=1, tools=[])):
            pass


in_tasks(work)
