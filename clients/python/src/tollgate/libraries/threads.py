"""
Threads: work that is given to a pool runs where it was given from, and a thread starts where it was started from.
Contexts as a whole are not copied: what a thread sees of other context variables stays as Python has it.
"""

from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import _state
from .._patches import wrap
from .._place import carry


def carry_into_threads() -> None:
    def around_submit(original: Any) -> Any:
        @functools.wraps(original)
        def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            # Also where no run is open: the thread may have been started within one.
            return original(self, carry(fn) if _state.settings is not None else fn, *args, **kwargs)

        return submit

    def around_start(original: Any) -> Any:
        @functools.wraps(original)
        def start(self: Any) -> None:
            if _state.settings is not None:
                self.run = carry(self.run)
            original(self)

        return start

    wrap(ThreadPoolExecutor, "submit", around_submit)
    wrap(threading.Thread, "start", around_start)
