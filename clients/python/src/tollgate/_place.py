"""
Where the program is: a run and the steps that are open, as a chain of nodes in a context variable.

Tasks and copies of a context keep the chain that they were started with, so a task that outlives its step stays in it.
A step that is closed out of order (a generator that was left behind) is skipped by its own task or thread only.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import uuid
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from ._metadata import metadata_headers

Function = TypeVar("Function", bound=Callable[..., Any])
Position = tuple[str, ...]


class Node:
    """A run (with an id) or a step (with a name). `framework` is where the frameworks were when it was opened."""

    __slots__ = ("parent", "run_id", "name", "metadata", "framework", "owner", "is_closed")

    def __init__(self, parent: Node | None, run_id: str | None, name: str | None, metadata: dict[str, str]) -> None:
        self.parent = parent
        self.run_id = run_id
        self.name = name
        self.metadata = metadata
        self.framework = _framework_position()
        # Weak, since a place may be kept for long; not an id, since those are used again.
        self.owner = weakref.ref(_flow())
        self.is_closed = False


_innermost: ContextVar[Node | None] = ContextVar("tollgate_place", default=None)
# Set by `install()`: asks the frameworks where they are. Without it only `run` and `step` count.
_framework_reader: Callable[[], Position] = tuple


def set_framework_reader(reader: Callable[[], Position] | None) -> None:
    global _framework_reader
    _framework_reader = reader or tuple


def _framework_position() -> Position:
    return _framework_reader()


def _flow() -> object:
    """What runs here: the task of an event loop, else the thread."""
    loop = asyncio._get_running_loop()
    task = asyncio.current_task(loop) if loop is not None else None
    return task if task is not None else threading.current_thread()


def _current() -> Node | None:
    node = _innermost.get()
    flow = _flow()
    while node is not None and node.is_closed and node.owner() is flow:
        node = node.parent
    return node


def is_anything_open() -> bool:
    return _current() is not None


def open_nodes() -> list[Node]:
    """From the outermost to the innermost; only those of the innermost run."""
    nodes: list[Node] = []
    flow = _flow()
    node = _innermost.get()
    while node is not None:
        if not (node.is_closed and node.owner() is flow):
            nodes.append(node)
            if node.run_id is not None:
                break
        node = node.parent
    nodes.reverse()
    return nodes


def _kept() -> Node | None:
    """A copy of the chain here, which no end of a step closes: for work that may go on when its step is over."""
    kept: Node | None = None
    for node in open_nodes():
        copy = Node(kept, node.run_id, node.name, node.metadata)
        copy.framework = node.framework
        kept = copy
    return kept


class _Scope:
    """What `run` and `step` have in common: with, async with, and decorator of functions and generators of both kinds."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def _open(self, parent: Node | None) -> Node:
        raise NotImplementedError

    def _again(self) -> _Scope:
        raise NotImplementedError

    def __enter__(self) -> Any:
        node = self._open(_current())
        self._nodes.append(node)
        _innermost.set(node)
        return self._entered(node)

    def _entered(self, node: Node) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        flow = _flow()
        # One object can be open in several tasks. A generator may be closed by another task than began it.
        node = next((node for node in reversed(self._nodes) if node.owner() is flow), self._nodes[-1])
        self._nodes.remove(node)
        node.is_closed = True
        if _innermost.get() is node:
            _innermost.set(node.parent)

    async def __aenter__(self) -> Any:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> None:
        self.__exit__(*error)

    def __call__(self, function: Function) -> Function:
        again = self._again
        wrapped: Any
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                return _placed_async_generator(again()._open(_kept()), function(*args, **kwargs))

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                return _placed_generator(again()._open(_kept()), function(*args, **kwargs))

        elif inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapped(*args: Any, **kwargs: Any) -> Any:
                with again():
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                with again():
                    return function(*args, **kwargs)

        return wrapped  # type: ignore[no-any-return]



class run(_Scope):
    """
    A run: the calls inside have the same trace id, a random one where none is given. `id` says which.

    Keywords are metadata of every call inside: `user_id=7` is sent as `X-Gateway-User-Id: 7`.
    Raises ValueError for a name of a keyword that the gateway reserves.
    """

    def __init__(self, id: str | None = None, /, **metadata: object) -> None:
        super().__init__()
        self._given = id
        self._values = metadata
        self._metadata = metadata_headers(metadata)
        self.id = id or str(uuid.uuid4())

    def _open(self, parent: Node | None) -> Node:
        return Node(parent, self.id, None, self._metadata)

    def _again(self) -> run:
        return run(self._given, **self._values)

    def __enter__(self) -> run:
        super().__enter__()
        return self

    async def __aenter__(self) -> run:
        return self.__enter__()


class step(_Scope):
    """A step of the run, beneath the steps that are open."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def _open(self, parent: Node | None) -> Node:
        return Node(parent, None, self.name, {})

    def _again(self) -> step:
        return step(self.name)

    def __enter__(self) -> step:
        super().__enter__()
        return self

    async def __aenter__(self) -> step:
        return self.__enter__()


@contextmanager
def _placed(node: Node | None) -> Iterator[None]:
    """`node` is the innermost one meanwhile, whatever is open here."""
    before = _innermost.get()
    _innermost.set(node)
    try:
        yield
    finally:
        _innermost.set(before)


def _placed_generator(node: Node | None, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The body of the generator is in `node` whenever it runs; who iterates stays where it is."""
    resume: Callable[[], Any] = functools.partial(next, generator)
    try:
        while True:
            with _placed(node):
                try:
                    value = resume()
                except StopIteration as end:
                    return end.value
            try:
                resume = functools.partial(generator.send, (yield value))
            except GeneratorExit:
                raise
            except BaseException as error:
                resume = functools.partial(generator.throw, error)
    finally:
        with _placed(node):
            generator.close()


async def _placed_async_generator(node: Node | None, generator: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
    resume: Callable[[], Any] = generator.__anext__
    try:
        while True:
            with _placed(node):
                try:
                    value = await resume()
                except StopAsyncIteration:
                    return
            try:
                resume = functools.partial(generator.asend, (yield value))
            except GeneratorExit:
                raise
            except BaseException as error:
                resume = functools.partial(generator.athrow, error)
    finally:
        with _placed(node):
            await generator.aclose()


def carry(work: Any) -> Any:
    """
    `work` in the place where `carry` was called: a function, coroutine or generator that runs elsewhere or later.

    For queues and pools of one's own; `install()` does it for threads and for `ThreadPoolExecutor`.
    """
    node = _kept()
    if inspect.isgenerator(work):
        return _placed_generator(node, work)
    if inspect.isasyncgen(work):
        return _placed_async_generator(node, work)
    if inspect.iscoroutine(work):

        async def awaited() -> Any:
            with _placed(node):
                return await work

        return awaited()

    @functools.wraps(work)
    def called(*args: Any, **kwargs: Any) -> Any:
        with _placed(node):
            return work(*args, **kwargs)

    return called
