"""LangChain: a chain in steps by hand, with a batch that LangChain runs in threads."""

from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from two_runs import in_threads

import tollgate

tollgate.install()
model = ChatOpenAI(model="gpt-4o-mini")


def work() -> None:
    with tollgate.step("plan"):
        model.invoke("one")
        with tollgate.step("batch"):
            (RunnableLambda(lambda text: text) | model).batch(["a", "b"])
            for _ in model.stream("three"):
                pass


in_threads(work)
