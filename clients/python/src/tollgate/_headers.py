"""The headers that say where the program is, for requests that nothing here leads."""

from __future__ import annotations

from . import _state
from ._metadata import encode_path, header_safe_id
from ._place import open_nodes
from ._providers import BASE_PATHS
from ._settings import read_settings


def headers() -> dict[str, str]:
    """For a request to the gateway that is made here and now: key, run, steps and metadata. Raises ValueError without key."""
    settings = _state.settings or read_settings()
    key = {} if settings.key is None else {"X-Gateway-Key": settings.key}
    return key | place_headers()


def base_url(provider: str = "openai") -> str:
    """The address that an SDK of `provider` is given instead of the provider's own. Raises ValueError for an unknown one."""
    if provider not in BASE_PATHS:
        raise ValueError(f"unknown provider {provider!r}; known are {', '.join(BASE_PATHS)}")
    return (_state.settings or read_settings()).base + BASE_PATHS[provider]


def place_headers() -> dict[str, str]:
    """Run, steps and metadata, as the gateway reads them; nothing of them where none is open."""
    nodes = open_nodes()
    framework = _state.frameworks.read()
    found: dict[str, str] = {}
    run_id = nodes[0].run_id if nodes and nodes[0].run_id is not None else framework.run_id
    if run_id is not None and run_id.strip():
        found["X-Gateway-Trace-Id"] = header_safe_id(run_id)
    names: list[str] = []
    seen: tuple[str, ...] = ()
    for node in nodes:
        # A step that was opened inside of a node of a framework stands beneath that node.
        names += node.framework[_common_length(seen, node.framework) :]
        seen = node.framework
        if node.run_id is not None:
            # What a framework did around the run is not part of it.
            names = []
        if node.name is not None:
            names.append(node.name)
        found.update(node.metadata)
    names += framework.names[_common_length(seen, framework.names) :]
    path = encode_path(names)
    if path:
        found["X-Gateway-Span-Path"] = path
    return found


def _common_length(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    length = 0
    for one, other in zip(left, right):
        if one != other:
            break
        length += 1
    return length
