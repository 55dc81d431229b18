"""Steps around methods of frameworks that keep nowhere what runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .._patches import wrap
from .._place import carry, is_anything_open, run, step


def steps_around(owner: type, methods: tuple[str, ...], name_of: Callable[[Any], str], opens_run: bool = False) -> None:
    """Those of `methods` that `owner` has itself become steps. With `opens_run` the outermost one is a run as well."""
    for method in methods:
        if method in vars(owner):
            wrap(owner, method, functools.partial(_around, name_of, opens_run))


def _around(name_of: Callable[[Any], str], opens_run: bool, original: Any) -> Any:
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def asynchronous(self: Any, *args: Any, **kwargs: Any) -> Any:
            if opens_run and not is_anything_open():
                async with run(), step(_name(name_of, self)):
                    return await original(self, *args, **kwargs)
            async with step(_name(name_of, self)):
                return await original(self, *args, **kwargs)

        return asynchronous

    @functools.wraps(original)
    def plain(self: Any, *args: Any, **kwargs: Any) -> Any:
        if opens_run and not is_anything_open():
            with run(), step(_name(name_of, self)):
                return _kept_here(original(self, *args, **kwargs))
        with step(_name(name_of, self)):
            return _kept_here(original(self, *args, **kwargs))

    return plain


def _kept_here(result: Any) -> Any:
    """A method that streams is over before its work begins."""
    lasts = inspect.isgenerator(result) or inspect.isasyncgen(result) or inspect.iscoroutine(result)
    return carry(result) if lasts else result


def _name(name_of: Callable[[Any], str], of: Any) -> str:
    try:
        return str(name_of(of) or type(of).__name__)
    except Exception:
        # A version that names it otherwise: the call must not fail for that.
        return type(of).__name__
