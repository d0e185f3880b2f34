"""What the learned metrics need beyond the package itself, and how to say that it is absent.

torch and transformers are loaded only inside functions that compute; everything else (cards, names, signatures, help)
works without them. A part that is missing is named together with the command that installs it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from billboards.errors import MissingPart
from billboards.extras import extra_of, install_command


def need(what: str, *modules: str) -> None:
    """Raise `MissingPart` unless all of these modules are installed; none of them is loaded."""
    for module in modules:
        if find_spec(module) is None:
            command = install_command(extra_of(module) or "neural")
            raise MissingPart(f"{what} needs {module}, which is not installed; install it with `{command}`")


def are_installed(*modules: str) -> bool:
    """Whether all of these modules are there; none of them is loaded."""
    return all(find_spec(module) is not None for module in modules)


def installed_version(package: str) -> str:
    """A package's version, or `absent`; a signature asks for it before anything is computed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
