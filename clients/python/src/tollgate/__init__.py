"""
Leads a program's calls of language models through a Tollgate gateway, and says which run and step each belongs to.

    import tollgate

    tollgate.install()
    with tollgate.run(feature="search"):
        with tollgate.step("research"):
            ...  # calls by any SDK, as without Tollgate
"""

from ._headers import base_url, headers
from ._install import install, uninstall
from ._place import carry, run, step

__all__ = ["base_url", "carry", "headers", "install", "run", "step", "uninstall"]
