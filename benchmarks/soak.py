"""A shared task of a simulated day, in minutes: submissions, annotators, deadlines, backups, restarts, an upgrade.

The site's clock is the benchmark's own, so a day passes as fast as the work in it is done. Teams send generators, most
of them shortly before a deadline, and some after it, which must be refused; annotators answer a campaign; one worker
scores and ranks. Every six hours the site is backed up, every four both the web's and the worker's site are closed and
opened again, and at noon the database is taken back to the oldest tables that hold all of this, and upgraded. What was
acknowledged is written down outside the site. In the end every submission must be scored, every answer be there once,
and the last backup must be restored with what it held. Memory is printed hour by hour: it must not grow with them.

    python benchmarks/soak.py [--teams 50] [--submissions 2000] [--annotators 100] [--answers 20] [--hours 24]
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

from synthetic import sentence, write_board

if TYPE_CHECKING:
    from billboards.site.accounts.access import Viewer
    from billboards.site.campaigns.annotator_work import Participant
    from billboards.site.site import Site
    from billboards.site.submissions.records import Entry

BOARD = "task"
HOUR = 3600.0
BEGIN = 1_800_000_000.0 // HOUR * HOUR
#: Simulated seconds between two looks of the worker, and how long a board is quiet before it is ranked.
LOOK, QUIET = 300.0, 1800.0
#: Hours between restarts and between backups.
RESTART, BACK_UP = 4, 6
#: The oldest tables that hold everything a shared task needs.
OLD_TABLES = "0006"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teams", type=int, default=50)
    parser.add_argument("--submissions", type=int, default=2000)
    parser.add_argument("--annotators", type=int, default=100)
    parser.add_argument("--answers", type=int, default=20, help="answers that each annotator gives")
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--instances", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="billboards-soak-") as folder:
        soak = Soak(given, Path(folder))
        soak.run()
        sys.exit(0 if soak.report() else 1)


@dataclass
class Clock:
    """The time on the site."""

    now: float = BEGIN

    def __call__(self) -> float:
        return self.now


@dataclass
class Soak:
    """The day: what is to happen, what was acknowledged, and what was measured."""

    given: argparse.Namespace
    folder: Path
    clock: Clock = field(default_factory=Clock)
    random: Random = field(default_factory=Random)
    submitted: list[str] = field(default_factory=list)
    refused: int = 0
    answered: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    #: Memory in MiB and submissions at the end of each hour.
    memory: list[float] = field(default_factory=list)
    backups: list[tuple[Path, int, int]] = field(default_factory=list)
    restarts: int = 0
    upgrades: int = 0
    jobs: int = 0
    slowest: float = 0.0
    began: float = field(default_factory=time.perf_counter)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def deadlines(self) -> tuple[float, float]:
        """When the first and the second phase close."""
        return BEGIN + self.given.hours / 2 * HOUR, BEGIN + (self.given.hours - 2) * HOUR

    def run(self) -> None:
        """Let the day pass."""
        self.random.seed(self.given.seed)
        self._make()
        self._open()
        events = sorted(self._events(), key=lambda event: event[0])
        looked, hour = BEGIN, 0
        for at, happen in events:
            while looked + LOOK <= at:
                looked += LOOK
                self.clock.now = looked
                self._work()
                while hour + 1 <= (looked - BEGIN) // HOUR:
                    hour += 1
                    self._end_hour(hour)
            self.clock.now = at
            happen()
        while hour < self.given.hours or self._unfinished():
            looked += LOOK
            self.clock.now = looked
            self._work()
            if (looked - BEGIN) // HOUR > hour:
                hour += 1
                self._end_hour(hour)
            if hour > self.given.hours + 6:
                self.problems.append("work is left six hours after the end")
                break

    def _make(self) -> None:
        from billboards.site.boards import registry
        from billboards.site.site import open_site

        folder = self.data / "boards" / BOARD
        write_board(folder, generators=4, instances=self.given.instances, metrics=0, seed=self.given.seed)
        written = (folder / "board.toml").read_text("utf-8")
        names = 'metrics = ["chrF", "TER", "ROUGE-1", "length"]\nranks ='
        (folder / "board.toml").write_text(written.replace("ranks =", names, 1), "utf-8")
        site = open_site(self.data, clock=self.clock)
        first, second = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for at in self.deadlines)
        phases = [{"name": "development", "closes": first}, {"name": "test", "opens": first, "closes": second}]
        settings = {"phases": phases, "quiet": QUIET, "method": "lasso", "draws": 200}
        with site.database.writing() as connection:
            registry.change_board(
                connection, BOARD, "board.settings", actor="soak", now=self.clock(), settings=settings
            )
        site.close()

    def _open(self) -> None:
        """The site as the web's process and as the worker's see it, each with a memory of its own."""
        from billboards.site.accounts.access import local_viewer
        from billboards.site.site import open_site

        self.web: Site = open_site(self.data, clock=self.clock)
        self.worker: Site = open_site(self.data, clock=self.clock)
        self.owner: Viewer = local_viewer(self.web)

    def _close(self) -> None:
        self.web.close()
        self.worker.close()

    def _events(self) -> list[tuple[float, Callable[[], None]]]:
        """What happens when: submissions crowd before the deadlines, annotators come all day."""
        given, day = self.given, self.given.hours * HOUR
        events: list[tuple[float, Callable[[], None]]] = []
        for number in range(given.submissions):
            deadline = self.random.choice(self.deadlines)
            late = self.random.random() < 0.02
            if late:
                at = self.deadlines[1] + self.random.uniform(1, HOUR)
            elif self.random.random() < 0.6:
                at = max(deadline - self.random.expovariate(1 / HOUR), BEGIN + 1)
            else:
                at = BEGIN + self.random.uniform(1, day - 2 * HOUR - 1)
            events.append((at, self._submission(number, late=at >= self.deadlines[1])))
        opened = BEGIN + 60.0
        events.append((opened, self._begin_campaign))
        for who in range(given.annotators):
            first = opened + self.random.uniform(1, day / 2)
            for turn in range(given.answers):
                events.append((first + turn * self.random.uniform(30, 300), self._answer(who)))
        return events

    def _submission(self, number: int, *, late: bool) -> Callable[[], None]:
        team = f"team-{number % self.given.teams:03}"
        seed = self.random.randrange(10**9)

        def send() -> None:
            from billboards.errors import Refused
            from billboards.site.submissions.sending import submit_generator

            words = Random(seed)
            raw = "\n".join(sentence(words) for _ in range(self.given.instances)).encode()
            system = number // self.given.teams
            name = f"{team} system {system}"
            entry: Entry = "contrastive" if system else "primary"
            try:
                sent = submit_generator(self.web, self._team(team), BOARD, name, raw, entry=entry).submission
            except Refused as error:
                self.refused += 1
                if not late:
                    self.problems.append(f"{name} was refused before the deadline: {error}")
                return
            self.submitted.append(sent.id)
            if late:
                self.problems.append(f"{name} was taken after the deadline")

        return send

    def _team(self, name: str) -> Viewer:
        from billboards.site.accounts import records
        from billboards.site.accounts.access import Viewer

        with self.web.database.reading() as connection:
            account = records.account_named(connection, name)
        if account is None:
            with self.web.database.writing() as connection:
                account = records.add_account(connection, name, "submitter", actor="soak", now=self.clock(), team=name)
        return Viewer(account)

    def _begin_campaign(self) -> None:
        from billboards.campaigns.plan import CampaignPlan
        from billboards.site.campaigns.annotator_work import enter
        from billboards.site.campaigns.annotators import invite
        from billboards.site.campaigns.lifecycle import create_campaign, open_campaign

        outputs = 4 * self.given.instances
        each = -(-self.given.annotators * self.given.answers // outputs)
        plan = CampaignPlan(instances=self.given.instances, labels=max(each, 1))
        made = create_campaign(self.web, self.owner, BOARD, "quality", "direct-assessment", plan=plan, ranks=False)
        campaign = open_campaign(self.web, self.owner, made.id)
        links = invite(self.web, self.owner, campaign.id, [f"person {k}" for k in range(self.given.annotators)])
        self.people: list[Participant] = [enter(self.web, link.token) for link in links]

    def _answer(self, who: int) -> Callable[[], None]:
        answer_id = str(UUID(int=self.random.getrandbits(128)))

        def answer() -> None:
            from billboards.site.campaigns.annotator_work import next_item, submit_answer

            turn = next_item(self.web, self.people[who])
            if turn.item is None:
                return
            raw: dict[str, Any] = {question.name: 50 for question in turn.item.template.dimensions}
            submit_answer(self.web, self.people[who], turn.item.assignment, answer_id, raw, seconds=20.0)
            self.answered.append(answer_id)

        return answer

    def _work(self) -> None:
        from billboards.site.work.worker import work_once

        while True:
            begin = time.perf_counter()
            if not work_once(self.worker, "soak"):
                return
            self.jobs += 1
            self.slowest = max(self.slowest, time.perf_counter() - begin)

    def _unfinished(self) -> bool:
        from billboards.site.work.worklist import standing

        return bool(standing(self.worker, BOARD).open)

    def _end_hour(self, hour: int) -> None:
        self.memory.append(_resident())
        print(
            f"hour {hour:2}: {self.memory[-1]:7.1f} MiB, {len(self.submitted):5,} submissions, "
            f"{len(self.answered):5,} answers, {self.jobs:6,} jobs, {time.perf_counter() - self.began:6.0f} s",
            flush=True,
        )
        if hour % BACK_UP == 0:
            self._back_up(hour)
        if hour % RESTART == 0:
            self._close()
            if hour == self.given.hours // 2 // RESTART * RESTART:
                self._upgrade()
            self._open()
            self.restarts += 1

    def _back_up(self, hour: int) -> None:
        from billboards.site.admin.backup import back_up

        file = self.folder / f"backup-{hour}.tar"
        back_up(self.web, file)
        self.backups.append((file, len(self.submitted), len(self.answered)))

    def _upgrade(self) -> None:
        """Take the closed database back to older tables; opening it upgrades it."""
        from alembic import command

        from billboards.site.database.engine import Database
        from billboards.site.database.migrations import alembic_config

        database = Database(f"sqlite:///{self.data / 'site.sqlite'}")
        with database.writing() as connection:
            command.downgrade(alembic_config(connection), OLD_TABLES)
        database.close()
        self.upgrades += 1

    def report(self) -> bool:
        """Print what came of it; whether all is well."""
        self._check(self.web, self.submitted, self.answered, "the site")
        self._close()
        self._check_backup()
        half = self.memory[len(self.memory) // 2 :]
        early, late = (sum(part) / len(part) for part in (half[: len(half) // 2], half[len(half) // 2 :]))
        given = self.given
        print(
            f"\n{given.hours} simulated hours in {time.perf_counter() - self.began:,.0f} s: {given.teams} teams, ",
            end="",
        )
        print(f"{len(self.submitted):,} submissions taken and {self.refused:,} refused after the deadline, ", end="")
        print(f"{given.annotators} annotators with {len(self.answered):,} answers, {self.jobs:,} jobs")
        print(f"{self.restarts} restarts, {len(self.backups)} backups, {self.upgrades} upgrade, ", end="")
        print(f"slowest job {self.slowest:.1f} s")
        print(f"memory: {self.memory[0]:.0f} MiB after an hour, {max(self.memory):.0f} at most, ", end="")
        print(f"{early:.0f} and {late:.0f} in the third and the last quarter of the day")
        for problem in self.problems:
            print(f"PROBLEM {problem}")
        print("nothing lost, no error" if not self.problems else f"{len(self.problems)} problems")
        return not self.problems

    def _check(self, site: Site, submitted: list[str], answered: list[str], where: str) -> None:
        """Every submission scored and every answer there once."""
        from sqlalchemy import select

        from billboards.site.database.schema import answers, submissions

        with site.database.reading() as connection:
            states = dict(connection.execute(select(submissions.c.id, submissions.c.state)).all())
            given = list(connection.execute(select(answers.c.answer_id)).scalars())
        if states.keys() != set(submitted):
            self.problems.append(f"{where} holds {len(states)} submissions instead of {len(submitted)}")
        if sorted(given) != sorted(answered):
            self.problems.append(f"{where} holds {len(given)} answers instead of {len(answered)}")
        unfinished = [key for key, state in states.items() if state != "scored"]
        if unfinished and where == "the site":
            self.problems.append(f"{len(unfinished)} submissions were not scored, first {unfinished[0]}")

    def _check_backup(self) -> None:
        from billboards.site.admin.backup import restore
        from billboards.site.site import open_site

        if not self.backups:
            return
        file, sent, said = self.backups[-1]
        restore(file, self.folder / "restored")
        site = open_site(self.folder / "restored", clock=self.clock)
        self._check(site, self.submitted[:sent], self.answered[:said], "the last backup")
        site.close()


def _resident() -> float:
    """The memory of this process, in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


if __name__ == "__main__":
    main()
