"""Tells when a module is imported, so that `install()` may come before or after it."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_log = logging.getLogger("tollgate")


class _LoaderThatTells(Loader):
    def __init__(self, loader: Any, tell: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        # What was looked up by this loader is reloaded by its own.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._tell(module)


class ImportWatch(MetaPathFinder):
    """Calls each listener once with its module: at once where that is imported, else after its import."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[ModuleType], None]] = {}
        self._looking: set[str] = set()

    def start(self, listeners: dict[str, Callable[[ModuleType], None]]) -> None:
        sys.meta_path.insert(0, self)
        for name, listener in listeners.items():
            module = sys.modules.get(name)
            # A module that is half imported has no end to wait for; it is asked again at the next `install()`.
            if module is not None:
                _call(listener, module)
            else:
                self._waiting[name] = listener

    def stop(self) -> None:
        self._waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._waiting or fullname in self._looking:
            return None
        self._looking.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        except (ImportError, ValueError):
            return None
        finally:
            self._looking.discard(fullname)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return None
        listener = self._waiting[fullname]

        def tell(module: ModuleType) -> None:
            if self._waiting.pop(fullname, None) is not None:
                _call(listener, module)

        spec.loader = _LoaderThatTells(spec.loader, tell)
        return spec


def _call(listener: Callable[[ModuleType], None], module: ModuleType) -> None:
    try:
        listener(module)
    except Exception:
        # A version of the library that this one does not know. The program must go on; its calls go past the gateway.
        _log.warning("tollgate cannot attach to this version of %s", module.__name__, exc_info=True)
