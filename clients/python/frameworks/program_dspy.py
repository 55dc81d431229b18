"""DSPy: a module with two predictors, in threads of DSPy's own."""

import tollgate

tollgate.install()

import dspy
from two_runs import in_threads

dspy.configure(lm=dspy.LM("openai/gpt-4o-mini", cache=False))


class Outer(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict("question -> answer")

    def forward(self, question: str) -> object:
        return self.predict(question=question)


def work() -> None:
    with tollgate.step("ask"):
        try:
            Outer()(question="q")
        except dspy.utils.exceptions.AdapterParseError:
            # The answer is not in DSPy's form; by then every call has been made.
            pass


in_threads(work)
