"""What `install()` has set up: the one mutable thing of this package."""

from __future__ import annotations

from ._settings import Settings
from .frameworks import Frameworks

settings: Settings | None = None
frameworks = Frameworks()
