"""What pyproject.toml can't say: the kernels are compiled by tools/build_kernels.py, for any Python of a platform."""

from __future__ import annotations

from pathlib import Path

from build_kernels import KERNELS, SUFFIX, compile_kernel, sources
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


class BuildKernels(build_ext):
    """Each extension is one kernel: a plain library, not a Python module."""

    def build_extension(self, ext: Extension) -> None:
        compile_kernel(Path(ext.sources[0]), Path(self.get_ext_fullpath(ext.name)))

    def get_ext_filename(self, fullname: str) -> str:
        return str(Path(*fullname.split(".")).with_suffix(SUFFIX))


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python: nothing in it is compiled against Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def kernel(source: Path) -> Extension:
    module = ".".join(source.with_suffix("").parts[1:])
    return Extension(module, [source.as_posix()], depends=[path.as_posix() for path in sorted(KERNELS.glob("*.h"))])


setup(
    ext_modules=[kernel(source) for source in sources(KERNELS)],
    cmdclass={"build_ext": BuildKernels, "bdist_wheel": PlatformWheel},
)
