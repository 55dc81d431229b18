"""Attaches to the HTTP libraries and frameworks of the process, and lets go of them."""

from __future__ import annotations

import threading

from . import _patches, _state
from ._imports import ImportWatch
from ._place import set_framework_reader
from ._settings import read_settings
from .libraries import LIBRARIES
from .libraries.threads import carry_into_threads

_lock = threading.Lock()
_watch = ImportWatch()


def install(
    url: str | None = None, key: str | None = None, *, fail_open: bool = False, threads: bool = True
) -> None:
    """
    From now on, requests to the known providers go through the gateway. Twice is once; other arguments replace the former.

    `url` and `key` are TOLLGATE_URL and TOLLGATE_KEY by default. `fail_open` sends a call straight to the provider
    where no connection to the gateway can be made. `threads` is whether a thread starts in the place of its starter.
    Raises ValueError without a key.
    """
    settings = read_settings(url, key, fail_open)
    with _lock:
        is_installed = _state.settings is not None
        _state.settings = settings
        if is_installed:
            return
        set_framework_reader(lambda: _state.frameworks.read().names)
        if threads:
            carry_into_threads()
        _watch.start({**LIBRARIES, **_state.frameworks.listeners()})


def uninstall() -> None:
    """Everything as before `install()`, for tests."""
    with _lock:
        _state.settings = None
        _watch.stop()
        _patches.unwrap_all()
        _state.frameworks.forget()
        set_framework_reader(None)
