"""The files for systemd, Docker Compose, nginx and SLURM name only what there is: commands, options, variables."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from argparse import ArgumentParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from billboards.cli.main import COMMANDS
from billboards.site import settings
from billboards.site.settings import SiteSettings

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
VARIABLES = {value for name, value in vars(settings).items() if name.isupper() and str(value).startswith("BILLBOARDS_")}


def check_command(words: list[str]) -> None:
    """A command of billboards, or a module of its that is run, with arguments that it takes."""
    if "-m" in words:
        assert find_spec(words[words.index("-m") + 1]) is not None
        return
    command, *arguments = words
    module, _ = COMMANDS[command]
    parser = ArgumentParser(exit_on_error=False)
    import_module(f"billboards.cli.{module}").add_arguments(parser)
    parser.parse_args(arguments)


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return found


def test_compose_names_only_what_it_defines() -> None:
    found = compose()
    services, volumes = found["services"], found["volumes"]
    assert set(services) == {"database", "site", "workers", "proxy"}
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            local = source == "./certificates" or (DEPLOY / source).exists()
            assert local if source.startswith(".") else source in volumes, f"{name}: {volume}"
    build = services["site"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")


def test_compose_runs_commands_that_there_are() -> None:
    services = compose()["services"]
    check_command(services["site"]["command"])
    check_command(services["workers"]["entrypoint"])
    assert services["site"]["healthcheck"]["test"][0] == "CMD"
    compile(services["site"]["healthcheck"]["test"][3], "healthcheck", "exec")
    assert "ports" not in services["site"], "only the proxy reaches the site"


@pytest.mark.parametrize("unit", [path for path in UNITS if path.suffix == ".service"], ids=lambda path: path.name)
def test_a_unit_runs_a_command_that_there_is(unit: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.+)$", unit.read_text("utf-8"), re.MULTILINE)
    words = shlex.split(line)
    if words[0] == "/bin/sh":
        words = shlex.split(re.sub(r"\$\(.+?\)", "now", words[2].removeprefix("exec ")))
    check_command(words[1:])


def test_systemd_finds_no_mistake_in_the_units(tmp_path: Path) -> None:
    """Where systemd is at hand; the paths that are yours to change are put on something that is there."""
    for unit in UNITS:
        text = re.sub(r"/opt/billboards/bin/\w+", "/bin/sh", unit.read_text("utf-8"))
        assert text.count("[Unit]") == 1
        (tmp_path / unit.name).write_text(text)
    if shutil.which("systemd-analyze") is not None:
        command = ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert [line for line in done.stderr.splitlines() if "billboards" in line] == []


def test_every_variable_that_is_set_is_one_that_is_read() -> None:
    for path in (path for path in DEPLOY.rglob("*") if path.is_file()):
        named = set(re.findall(r"\bBILLBOARDS_[A-Z_]+\b", path.read_text("utf-8")))
        assert named - {"BILLBOARDS_PYTHON"} <= VARIABLES, path.name


def test_the_image_installs_extras_that_there_are() -> None:
    import tomllib

    (extras,) = re.findall(r"/source\[([\w,]+)\]", (DEPLOY / "Dockerfile").read_text("utf-8"))
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_the_proxy_lets_through_what_the_site_takes_and_hides_what_is_not_for_all() -> None:
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", text)
    assert int(megabytes) * 2**20 >= SiteSettings().metric_bytes + 2**20
    assert text.count("{") == text.count("}")
    assert "location = /metrics" in text
    for header in ("Host", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-Id"):
        assert f"proxy_set_header {header} " in text


def test_the_slurm_script_is_a_script_and_says_what_it_needs() -> None:
    script = str(DEPLOY / "workers.sbatch")
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    done = subprocess.run(["bash", script], env={"PATH": "/bin:/usr/bin"}, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "data folder" in done.stderr
    (module,) = re.findall(r"-m ([\w.]+)", (DEPLOY / "workers.sbatch").read_text("utf-8"))
    assert find_spec(module) is not None
