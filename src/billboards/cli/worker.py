"""Score what a site lacks, beside its server or on another machine, here or on a Dask cluster.

    billboards worker DATA
    billboards worker DATA --engine dask --address tcp://HOST:8786

Ctrl-C stops it; what was begun is given back at once. A worker that is killed loses nothing: others take over its cells
when its leases run out.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="the site's data folder")
    options.add_engine(parser)
    parser.add_argument(
        "--leases",
        type=options.positive,
        default=16,
        metavar="N",
        help="cells under way on a cluster at a time; twice its threads keep it busy (default 16)",
    )
    parser.add_argument(
        "--gpu", action="store_true", help="run programs that ask for a graphics card: site.toml's [workers.gpu]"
    )
    parser.add_argument(
        "--name", metavar="NAME", help="what the worker is called in logs (default: this machine's name)"
    )


def run(arguments: Namespace) -> int:
    import os
    import signal
    import socket
    import threading

    from billboards.cli.output import note
    from billboards.cli.serve import check_installed
    from billboards.site.work.processes import stopping_on
    from billboards.site.work.worker import check_gpu, work, working_site
    from billboards.site.work.worklist import anything, everything

    check_installed()
    stop = threading.Event()
    name = f"{arguments.name or socket.gethostname()}-{os.getpid()}"
    _check_site(arguments.data)
    with (
        stopping_on(signal.SIGTERM, signal.SIGINT, stop=stop),
        options.chosen_cluster(arguments) as cluster,
        working_site(arguments.data, stop) as site,
    ):
        note(f"worker {name} looks for work in {arguments.data} (Ctrl-C ends it)")
        if arguments.gpu:
            check_gpu(site)
        if cluster is None:
            work(site, name, stop, everything if arguments.gpu else anything)
        else:
            from billboards.site.work.cluster_worker import work_on_cluster

            work_on_cluster(site, name, stop, cluster, leases=arguments.leases)
    return 0


def _check_site(data: Path) -> None:
    from billboards.errors import InvalidInput

    if not data.is_dir():
        raise InvalidInput(f"{data} is not there; name the data folder of a site, which `billboards serve` makes")
