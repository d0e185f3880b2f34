"""The build backend: setuptools', which is given a C compiler as a wheel where the machine has none.

pip asks a backend what a build needs before it builds; `ziglang` is asked for only there, so that whoever has a
compiler downloads nothing, and whoever has none needs no more than Python.
"""

from __future__ import annotations

from typing import Any

from build_kernels import compiler_wanted
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - a backend offers all of setuptools' hooks


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_wheel(config_settings), *compiler_wanted()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_editable(config_settings), *compiler_wanted()]
