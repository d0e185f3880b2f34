"""The files for systemd, Docker Compose, nginx and SLURM name only what there is: commands, options, variables."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from argparse import ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from billboards.cli.main import COMMANDS
from billboards.metrics.judges import settings as judges
from billboards.site import settings
from billboards.site.settings import SiteSettings
from billboards.site.web.server import MOST_FILES

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
VARIABLES = {
    value
    for module in (settings, judges)
    for name, value in vars(module).items()
    if name.isupper() and str(value).startswith("BILLBOARDS_")
}


def check_command(words: list[str]) -> Namespace:
    """A command of billboards, or a module of its that is run, with arguments that it takes."""
    if "-m" in words:
        place = words.index("-m") + 1
        module, arguments = words[place], words[place + 1 :]
    else:
        module, arguments = f"billboards.cli.{COMMANDS[words[0]][0]}", words[1:]
    parser = ArgumentParser(exit_on_error=False)
    import_module(module).add_arguments(parser)
    return parser.parse_args(arguments)


def read(name: str) -> str:
    return (DEPLOY / name).read_text("utf-8")


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
    check_command([*services["workers"]["entrypoint"], *services["workers"]["command"]])
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


@pytest.fixture
def units(tmp_path: Path) -> list[str]:
    """The units, with the paths that are yours to change put on something that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed; Debian has it in systemd")
    for unit in UNITS:
        text = re.sub(r"/opt/billboards/bin/\w+", "/bin/sh", unit.read_text("utf-8"))
        assert text.count("[Unit]") == 1
        (tmp_path / unit.name).write_text(text)
    return sorted(map(str, tmp_path.iterdir()))


def test_systemd_finds_no_mistake_in_the_units(units: list[str]) -> None:
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "billboards" in line] == []


@pytest.mark.parametrize(
    ("unit", "exposure"),
    [("billboards.service", 5.0), ("billboards-workers.service", 5.0), ("billboards-backup.service", 2.0)],
)
def test_units_give_away_little_by_systemds_own_measure(units: list[str], unit: str, exposure: float) -> None:
    """From 0 to 10, and the lower the better; submitted programs need namespaces, so a site can't give up all."""
    (path,) = [path for path in units if path.endswith(f"/{unit}")]
    command = ["systemd-analyze", "security", "--offline=true", f"--threshold={int(exposure * 10)}", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})
    (found,) = re.findall(rf"Overall exposure level for {re.escape(unit)}: ([\d.]+)", done.stdout)
    assert float(found) <= exposure


@pytest.mark.parametrize("unit", ["billboards.service", "billboards-workers.service"])
def test_a_unit_may_open_as_many_files_as_the_server_asks_for(unit: str) -> None:
    assert f"LimitNOFILE={MOST_FILES}\n" in read(f"systemd/{unit}")


def test_every_variable_that_is_set_is_one_that_is_read() -> None:
    names = ("deployment.md", "cluster.md", "running-a-site.md", "runbook.md", "sizing.md")
    pages = [DEPLOY.parent / "docs" / name for name in names]
    for path in (*pages, *(path for path in DEPLOY.rglob("*") if path.is_file())):
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
    # Behind the proxy the site can't tell connections apart, so the proxy has the site's own limits.
    limits = SiteSettings()
    assert f"limit_conn billboards {limits.connections_each};" in text
    assert f"client_header_timeout {limits.head_seconds:g}s;" in text
    for header in ("Host", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-Id"):
        assert f"proxy_set_header {header} " in text


def test_everybody_speaks_of_the_same_port() -> None:
    services, image = compose()["services"], read("Dockerfile")
    port = check_command(services["site"]["command"]).port
    assert re.findall(r"^\s*server (\S+);", read("compose-upstream.conf"), re.MULTILINE) == [f"site:{port}"]
    assert re.findall(r"^\s*server (\S+) ", read("nginx-upstream.conf"), re.MULTILINE) == [f"127.0.0.1:{port}"]
    assert "proxy_pass http://billboards;" in read("nginx.conf")
    for upstream in ("compose-upstream.conf", "nginx-upstream.conf"):
        assert "upstream billboards {" in read(upstream)
    assert re.findall(r"^EXPOSE (\d+)", image, re.MULTILINE) == [str(port)]
    assert f"http://127.0.0.1:{port}/ready" in services["site"]["healthcheck"]["test"][3]
    assert f"--port {port} " in read("systemd/billboards.service")
    listens = re.findall(r"^\s*listen (\d+)", read("nginx.conf"), re.MULTILINE)
    assert {f"{number}:{number}" for number in listens} == set(services["proxy"]["ports"])


def test_everybody_speaks_of_the_same_folders() -> None:
    services, image = compose()["services"], read("Dockerfile")
    (volume,) = re.findall(r"^VOLUME (\S+)", image, re.MULTILINE)
    assert f'CMD ["serve", "{volume}"' in image
    for name in ("site", "workers"):
        assert services[name]["volumes"] == [f"data:{volume}"]
        assert volume in services[name]["command"]
    mounted = dict(one.split(":")[:2] for one in services["proxy"]["volumes"])
    certificates = re.findall(r"ssl_certificate(?:_key)? (\S+)/\w+\.pem;", read("nginx.conf"))
    assert set(certificates) == {mounted["./certificates"]}
    assert len(certificates) == 2
    for unit in (path for path in UNITS if path.suffix == ".service"):
        text = unit.read_text("utf-8")
        (own,) = re.findall(r"^StateDirectory=(.+)$", text, re.MULTILINE)
        assert set(re.findall(r"/var/lib/([\w-]+)", text)) == set(own.split()), unit.name


def test_the_site_finds_its_database_under_the_name_and_password_it_has() -> None:
    services = compose()["services"]
    address, database = services["site"]["environment"]["BILLBOARDS_DATABASE"], services["database"]["environment"]
    user, password, host, name = re.fullmatch(r"postgresql://(\w+):(.+)@(\w+)/(\w+)", address).groups()  # type: ignore[union-attr]
    assert host in services
    assert host in services["site"]["depends_on"]
    assert (user, password) == (database["POSTGRES_USER"], database["POSTGRES_PASSWORD"])
    assert name == database.get("POSTGRES_DB", database["POSTGRES_USER"])
    assert f"--username {user}" in services["database"]["healthcheck"]["test"][1]


def test_everybody_waits_until_the_supervisor_has_ended_its_children() -> None:
    from billboards.site.work.processes import GRACE

    services = compose()["services"]
    waits = [services[name]["stop_grace_period"].removesuffix("s") for name in ("site", "workers")]
    for unit in ("billboards.service", "billboards-workers.service"):
        waits += re.findall(r"^TimeoutStopSec=(\d+)$", read(f"systemd/{unit}"), re.MULTILINE)
    assert len(waits) == 4
    assert min(map(int, waits)) > GRACE


def test_the_image_is_built_from_sources_alone() -> None:
    """A checkout's environment and what was compiled in it would make the image large, and wrong."""
    ignored = read("Dockerfile.dockerignore").split("\n")
    assert {".git", ".venv", "build", "**/*.so"} <= set(ignored)
    for needed in ("src", "pyproject.toml", "setup.py", "README.md", "LICENSE", "requirements", "tools"):
        assert needed not in ignored
        assert (DEPLOY.parent / needed).exists()
