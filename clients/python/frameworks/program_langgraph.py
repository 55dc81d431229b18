"""LangGraph: a node with a call, an agent with a tool that calls as well, in a graph inside of a graph."""

import tollgate

tollgate.install()

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from two_runs import in_tasks

model = ChatOpenAI(model="gpt-4o-mini")


@tool
async def weather(text: str) -> str:
    """Says the weather."""
    await model.ainvoke("inside of the tool")
    with tollgate.step("rank"):
        await model.ainvoke("in a step inside of the tool")
    return "sunny"


agent = create_agent(model, [weather], name="weather_agent")


async def plan(state: MessagesState) -> dict:
    return {"messages": [await model.ainvoke("plan")]}


graph = StateGraph(MessagesState)
graph.add_node("plan", plan)
graph.add_node("ask", agent)
graph.add_edge(START, "plan")
graph.add_edge("plan", "ask")
graph.add_edge("ask", END)
compiled = graph.compile()


async def work() -> None:
    await compiled.ainvoke({"messages": [("user", "hello")]})


in_tasks(work)
