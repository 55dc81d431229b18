"""CrewAI: a crew of two tasks and two agents."""

from crewai import Agent, Crew, Task
from two_runs import in_threads

import tollgate

tollgate.install()


def work() -> None:
    finder = Agent(role="Researcher", goal="find", backstory="-", llm="openai/gpt-4o-mini")
    writer = Agent(role="Writer", goal="write", backstory="-", llm="openai/gpt-4o-mini")
    find = Task(name="find", description="find", expected_output="text", agent=finder)
    write = Task(name="write", description="write", expected_output="text", agent=writer)
    Crew(name="report", agents=[finder, writer], tasks=[find, write]).kickoff()


in_threads(work)
