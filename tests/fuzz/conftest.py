"""Every reader with a sound file of its kind, made once."""

from __future__ import annotations

import pytest
from targets import Target, all_targets


@pytest.fixture(scope="session")
def targets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return all_targets(tmp_path_factory.mktemp("fuzz") / "targets")
