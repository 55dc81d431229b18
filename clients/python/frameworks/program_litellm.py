"""LiteLLM's SDK: three providers, in steps by hand, in tasks and in threads."""

import litellm
from two_runs import in_tasks

import tollgate

tollgate.install()
HELLO = [{"role": "user", "content": "hi"}]


async def work() -> None:
    for model in ("openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "together_ai/m", "deepseek/deepseek-chat"):
        with tollgate.step(model.partition("/")[0]):
            await litellm.acompletion(model=model, messages=HELLO)
            with tollgate.step("again"):
                import asyncio

                await asyncio.to_thread(litellm.completion, model=model, messages=HELLO)


in_tasks(work)
