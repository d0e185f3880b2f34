"""Every reader with a sound file of its kind, made once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from target import Target
from targets import all_targets


@pytest.fixture(scope="session")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    with ExitStack() as stack:
        yield all_targets(tmp_path_factory.mktemp("fuzz") / "targets", stack)
