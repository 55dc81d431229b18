"""ADK: an agent that hands over to a sub-agent with a tool."""

from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.runners import InMemoryRunner
from google.genai import types
from two_runs import in_tasks

import tollgate

tollgate.install()


def weather(text: str) -> str:
    """Says the weather."""
    return "sunny"


async def work() -> None:
    first = LlmAgent(name="first", model="gemini-2.5-flash", tools=[weather])
    second = LlmAgent(name="second", model="gemini-2.5-flash")
    runner = InMemoryRunner(SequentialAgent(name="pipeline", sub_agents=[first, second]), app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        pass


in_tasks(work)
