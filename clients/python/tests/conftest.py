from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from recorder import Recorder

import tollgate

sys.path.insert(0, os.path.dirname(__file__))
KEY = "tgk_test"


@pytest.fixture
def gateway() -> Iterator[Recorder]:
    """A recorder that everything is led to."""
    recorder = Recorder()
    tollgate.install(recorder.url, KEY)
    yield recorder
    tollgate.uninstall()
    recorder.close()


@pytest.fixture
def stranger() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.close()
