"""A token in TOLLGATE_URL opens the gateway as a key does, and the errors of libraries name whole addresses."""

from __future__ import annotations

from . import _state


def conceal(text: str) -> str:
    """`text` without the token."""
    token = _state.settings.token if _state.settings is not None else ""
    return text.replace(token, "/@…") if token else text


def conceal_in(error: BaseException) -> None:
    """In what `error` says and holds, and the errors that it came from."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        one.args = tuple(conceal(arg) if isinstance(arg, str) else arg for arg in one.args)
        held = vars(one)
        for name, value in list(held.items()):
            if isinstance(value, str):
                held[name] = conceal(value)
            elif type(value) is dict:
                held[name] = {key: conceal(of) if isinstance(of, str) else of for key, of in value.items()}
                waiting += value.values()
        waiting += [*one.args, *held.values(), one.__cause__, one.__context__]
