"""Kernels on all cores: every item once, the same numbers, and no more threads than allowed."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from billboards.metrics import summed
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric
from billboards.metrics.executor import Task
from billboards.metrics.kernels.threads import algebra_on_one_core, cores, in_parts, limit_threads
from billboards.run.local import LocalPool


@pytest.fixture(autouse=True)
def no_limit_after() -> Iterator[None]:
    yield
    limit_threads(None)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_parts_cover_every_item_once(threads: int, count: int) -> None:
    limit_threads(threads)
    done: list[int] = []
    in_parts(lambda start, stop: done.extend(range(start, stop)), count, smallest=1)
    assert sorted(done) == list(range(count))


def test_with_a_limit_of_one_nothing_leaves_the_thread_that_asked_but_the_main_thread_waits_for_another() -> None:
    limit_threads(1)
    seen: list[int | None] = []

    def ask() -> None:
        in_parts(lambda start, stop: seen.append(threading.get_ident()), 1000, smallest=1)

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    assert seen == [asking.ident]
    ask()
    assert len(seen) == 2
    assert seen[1] != threading.get_ident()


@pytest.mark.parametrize("ends_calls", [True, False], ids=["signals end calls", "calls go on after signals"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_the_wait_for_a_part_under_way_and_no_other_is_begun(
    threads: int, *, ends_calls: bool, request: pytest.FixtureRequest
) -> None:
    limit_threads(threads)
    signal.siginterrupt(signal.SIGINT, ends_calls)
    request.addfinalizer(lambda: signal.siginterrupt(signal.SIGINT, True))
    end, begun = threading.Event(), list[int]()

    def work(start: int, stop: int) -> None:
        del stop
        begun.append(start)
        end.wait(60)

    threading.Timer(0.2, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)).start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        in_parts(work, 1000, smallest=1)
    assert time.monotonic() - before < 30
    under_way = len(begun)
    end.set()
    time.sleep(0.1)
    assert len(begun) == under_way == threads


def test_what_goes_wrong_in_a_thread_is_raised() -> None:
    limit_threads(3)
    with pytest.raises(ZeroDivisionError):
        in_parts(lambda start, stop: 1 // (stop - 1000), 1000, smallest=1)


BATCH = Batch([f"the cat {k % 5} sat on {k}" for k in range(700)], [["the cat sat on 3", f"a {k}"] for k in range(700)])


def scores(name: str, batch: Batch) -> list[float]:
    return [float(score) for score in score_checked(metric(name), batch)[""]]


@pytest.mark.parametrize("name", ["BLEU", "chrF", "chrF++", "TER", "CharacTER", "EED", "WER", "CER"])
def test_scores_are_the_same_with_any_number_of_threads_and_slices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_threads(1)
    expected = scores(name, BATCH)
    limit_threads(4)
    assert scores(name, BATCH) == expected
    monkeypatch.setattr(summed, "SLICE", 100)
    assert scores(name, BATCH) == expected


def test_a_worker_process_keeps_to_one_core_and_gives_the_same_scores() -> None:
    (result,) = LocalPool(2).run([Task((0, 0), metric("TER"), BATCH.part(0, 200))])
    assert result.parts is not None
    assert result.parts[""].tolist() == scores("TER", BATCH.part(0, 200))


def test_without_a_limit_every_core_that_this_process_may_use_counts() -> None:
    assert cores() >= 1


def algebra_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_linear_algebra_stays_on_one_core_until_the_last_who_wants_that_is_through() -> None:
    with threadpool_limits(2, user_api="blas"):
        first, second = algebra_on_one_core(), algebra_on_one_core()
        with first:
            second.__enter__()
            assert algebra_threads() == {1}
        assert algebra_threads() == {1}
        second.__exit__(None, None, None)
        assert algebra_threads() == {2}


def test_linear_algebra_has_its_threads_again_after_an_error() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="stop"), algebra_on_one_core():
            raise ValueError("stop")
        assert algebra_threads() == {2}
