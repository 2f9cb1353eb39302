"""Work of a hosted page: few at a time, each visitor in turn, and never too many waiting."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lossprism.explorer.runtime import fair_queue, jobs, waiting_request_lends_its_thread
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.fair_queue import FairQueue, heavy_work_turn
from lossprism.explorer.runtime.jobs import Job
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from tests.sentences import raises_problem

LONG_S = 60
MIDDLING_S = 2 * fair_queue.LIGHT_S  # of a processor


def a_queue_of_its_own(of: FairQueue) -> FairQueue:
    """The same bounds, and nobody there."""
    return FairQueue(of.at_once, of.of_one, of.most, of.key)


@pytest.fixture(autouse=True)
def hosted(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    for name in ("LIGHT", "MIDDLING", "HEAVY"):
        monkeypatch.setattr(fair_queue, name, a_queue_of_its_own(getattr(fair_queue, name)))


class Workers:
    """Work that runs until a signal, started one after the other."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.begun: list[str] = []
        self.ends: dict[str, threading.Event] = {}
        self.pool = ThreadPoolExecutor(32)
        self.waiting: dict[str, int] = {}
        self.changed = threading.Condition()

    def begin(self, visitor: str, name: str) -> None:
        self.ends[name] = threading.Event()
        before = sum(self.queue.counts)
        future = self.pool.submit(self._work, visitor, name)
        while sum(self.queue.counts) == before and not future.done():
            pass
        if future.done():
            future.result()

    def _work(self, visitor: str, name: str) -> None:
        def waits(ahead: int) -> None:
            self.waiting[name] = ahead

        with self.queue.taken(visitor, waits):
            with self.changed:
                self.begun.append(name)
                self.changed.notify_all()
            self.ends[name].wait(LONG_S)

    def until(self, count: int) -> list[str]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.begun) >= count, LONG_S)
            return self.begun[:count]

    def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAVY_OF_ONE", "5")
    made = Workers(fair_queue.HEAVY)
    yield made
    made.end(*made.ends)
    made.pool.shutdown()


def test_who_asks_much_waits_for_who_asks_little(workers):
    for name in ("a1", "a2", "a3", "a4"):
        workers.begin("a", name)
    workers.until(2)
    workers.begin("b", "b1")
    assert sorted(workers.begun) == ["a1", "a2"]
    workers.end("a1")
    assert workers.until(3)[2] == "b1"  # b has nothing under way
    workers.end("a2")
    assert workers.until(4)[3] == "a3"
    workers.end("b1")
    assert workers.until(5)[4] == "a4"


def test_among_equals_it_is_whose_turn_was_longest_ago(workers, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    workers.begin("a", "a1")
    workers.until(1)
    for visitor, name in (("a", "a2"), ("a", "a3"), ("b", "b1"), ("b", "b2"), ("c", "c1")):
        workers.begin(visitor, name)
    order = ["a1", "b1", "c1", "a2", "b2", "a3"]
    for count, name in enumerate(order, 1):
        assert workers.until(count) == order[:count]
        workers.end(name)


def test_too_much_is_refused_at_once(workers, monkeypatch, capfd):
    monkeypatch.setenv("LOSSPRISM_HEAVY_OF_ONE", "2")
    monkeypatch.setenv("LOSSPRISM_HEAVY_WAITING", "1")
    workers.begin("a", "a1")
    workers.begin("a", "a2")
    with pytest.raises(Problem) as own:
        workers.begin("a", "a3")
    assert (own.value.key, own.value.values) == ("problem.busy_own", {"count": 2})
    workers.until(2)
    workers.begin("b", "b1")
    with pytest.raises(Problem) as full:
        workers.begin("c", "c1")
    assert full.value.key == "problem.busy"
    assert capfd.readouterr().err == "refused problem.busy_own\nrefused problem.busy\n"
    workers.end("a1", "a2", "b1")
    workers.until(3)


def test_who_leaves_the_queue_keeps_nobody_waiting(monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    queue = fair_queue.HEAVY

    def leave(ahead):
        raise jobs.Cancelled

    with queue.taken("a"):
        with pytest.raises(jobs.Cancelled), queue.taken("b", leave):
            raise AssertionError
        assert queue.counts == (1, 0)
    assert queue.counts == (0, 0)
    with pytest.raises(ZeroDivisionError), queue.taken("a"):
        1 / 0  # noqa: B018
    assert queue.counts == (0, 0)


def test_work_that_waits_for_other_work_has_one_turn(monkeypatch):
    """Else two that each wait for another would lock all out."""
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")

    def outer(report):
        return jobs.result_within(lambda: Job.in_background(inner), report)

    def inner(report):
        with jobs.heavy_work_turn():
            return fair_queue.HEAVY.counts

    with as_visitor(new_key()):
        job = Job.in_background(outer)
        assert job.wait(LONG_S)
        assert job.result() == (1, 0)
    assert fair_queue.HEAVY.counts == (0, 0)


def test_waiting_work_is_reported_and_can_be_cancelled(monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    with as_visitor(new_key()), heavy_work_turn():
        pass
    with fair_queue.HEAVY.taken("another"), as_visitor(new_key()):
        job = Job.in_background(lambda report: 1)
        while job.progress.what != "turn":
            assert not job.wait(0.01)
        assert job.progress.done == 0
        job.cancel()
        assert job.wait(LONG_S)
        with pytest.raises(jobs.Cancelled):
            job.result()


def test_at_home_nobody_waits(monkeypatch):
    monkeypatch.delenv(HOSTED)
    monkeypatch.delenv("SPACE_ID", raising=False)
    with heavy_work_turn(), heavy_work_turn():
        assert fair_queue.HEAVY.counts == (0, 0)
    with fair_queue.light_work_turn(0), fair_queue.light_work_turn(MIDDLING_S):
        assert fair_queue.LIGHT.counts == fair_queue.MIDDLING.counts == (0, 0)


def test_where_nobody_asks_nobody_waits(monkeypatch):
    """The process of a training reads its file as at home, on a hosted page, too."""
    monkeypatch.setenv(HOSTED, "1")
    done = []
    with heavy_work_turn():
        done.append("heavy")
    for seconds in (0.01, 1.0):
        with fair_queue.light_work_turn(seconds):
            done.append(seconds)
    assert done == ["heavy", 0.01, 1.0]
    assert fair_queue.HEAVY.counts == fair_queue.MIDDLING.counts == (0, 0)


def test_holders_of_all_slots_lend_them_to_what_they_wait_for(monkeypatch):
    """The queued work that they wait for would else wait for them."""
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    kept = jobs.Jobs()
    first = new_key()
    with as_visitor(first), fair_queue.HEAVY.taken("another"):
        inner = kept.start("shared", lambda report: "made")
        while inner.progress.what != "turn":
            assert not inner.wait(0.01)
        outer = Job.in_background(
            lambda report: jobs.result_within(lambda: kept.start("shared", lambda _: ""), report)
        )
        while outer.progress.what != "turn":
            assert not outer.wait(0.01)
        for ticket in fair_queue.HEAVY._tickets[1:]:  # whoever waits for the work is before it
            ticket.tag = -ticket.tag
    assert outer.wait(LONG_S)
    assert outer.result() == "made"
    assert fair_queue.HEAVY.counts == (0, 0)


def test_all_who_come_without_a_key_are_one_in_the_queue(monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAVY_OF_ONE", "1")
    with as_visitor(new_key(), is_new=True), heavy_work_turn(), ThreadPoolExecutor(1) as pool:

        def another():
            with as_visitor(new_key(), is_new=True), heavy_work_turn():
                return True

        with raises_problem("busy_own"):
            pool.submit(another).result()


def test_what_is_done_is_kept_while_others_wait():
    kept = jobs.Jobs(most=1)
    with as_visitor(new_key()):
        done = kept.start("done", lambda report: 1)
        assert done.wait(LONG_S)
        more = threading.Event()
        for number in range(3):
            kept.start(number, lambda report: more.wait(LONG_S))
        assert kept.start("done", lambda report: 2) is done
        more.set()


def test_requests_of_one_visitor_alone_are_dropped_at_once():
    kept = jobs.Jobs()
    mine, other = new_key(), new_key()
    for key in (mine, other):
        with as_visitor(key):
            assert kept.start("both", lambda report: 1).wait(LONG_S)
    with as_visitor(mine):
        assert kept.start("mine", lambda report: 1).wait(LONG_S)
        jobs.forget_visitor()
    assert list(kept._jobs) == ["both"]


def test_a_new_key_comes_before_nobody_who_waits(workers, monkeypatch):
    """It costs nothing: who makes one for each question would else be first for ever."""
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    for visitor, name in (("a", "a1"), ("b", "b1"), ("b", "b2"), ("new", "n1"), ("newer", "n2")):
        workers.begin(visitor, name)
    order = ["a1", "b1", "n1", "n2", "b2"]
    for count, name in enumerate(order, 1):
        assert workers.until(count) == order[:count]
        workers.end(name)


def test_of_those_who_were_served_none_is_remembered_for_ever():
    with fair_queue.LIGHT.taken("stays"):
        for number in range(1000):
            fair_queue.LIGHT._leave(fair_queue.LIGHT._join(str(number)))
        assert len(fair_queue.LIGHT._tags) < 200
    assert fair_queue.LIGHT._tags == {}


@pytest.mark.parametrize("inner", [0, MIDDLING_S])
@pytest.mark.parametrize("outer", ["MIDDLING", "HEAVY"])
def test_light_work_waits_for_no_longer_work(outer, inner, monkeypatch):
    """Of two visitors the one with a small question is answered beside the other's large one, and
    middling work is done beside heavy work."""
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    shorter = inner == 0 or outer == "HEAVY"
    reports = []

    def leave(ahead: int) -> None:
        reports.append(ahead)
        raise jobs.Cancelled

    with getattr(fair_queue, outer).taken("another"), as_visitor(new_key()):
        if shorter:
            with fair_queue.light_work_turn(inner, leave):
                assert reports == []
        else:
            with pytest.raises(jobs.Cancelled), fair_queue.light_work_turn(inner, leave):
                raise AssertionError
            assert reports == [0]
    assert (
        fair_queue.LIGHT.counts == fair_queue.MIDDLING.counts == fair_queue.HEAVY.counts == (0, 0)
    )


def test_middling_work_is_bounded_for_one_and_for_all(monkeypatch, capfd):
    monkeypatch.setenv("LOSSPRISM_MIDDLING_OF_ONE", "1")
    monkeypatch.setenv("LOSSPRISM_MIDDLING_WAITING", "1")
    one, other, third = new_key(), new_key(), new_key()
    go = threading.Event()

    def work(whose: str) -> bool:
        with as_visitor(whose), fair_queue.light_work_turn(MIDDLING_S):
            return go.wait(LONG_S)

    with ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(work, whose) for whose in (one, other)]
        while fair_queue.MIDDLING.counts != (1, 1):
            pass
        refused = []
        for whose in (one, third):
            with pytest.raises(Problem) as raised:
                work(whose)
            refused.append((raised.value.key, raised.value.values))
        with as_visitor(third), fair_queue.light_work_turn(0):  # a small question comes through
            pass
        go.set()
        assert all(one.result(LONG_S) for one in begun)
    busy = [("problem.busy_middling_own", {"count": 1}), ("problem.busy_middling", {"count": 1})]
    assert refused == busy
    assert capfd.readouterr().err == "".join(f"refused {key}\n" for key, _ in busy)


def test_middling_work_keeps_no_place_of_the_pool_and_light_work_keeps_one():
    lent = []
    with as_visitor(new_key()), waiting_request_lends_its_thread.in_pool(lent.append):
        with fair_queue.light_work_turn(0):
            assert lent == []
        with fair_queue.light_work_turn(MIDDLING_S):
            assert lent == [1]
            with fair_queue.light_work_turn(MIDDLING_S), heavy_work_turn():  # within its own turn
                assert fair_queue.HEAVY.counts == (0, 0)
    assert lent == [1, -1]


@pytest.mark.parametrize(
    "longer", [heavy_work_turn, lambda: fair_queue.light_work_turn(MIDDLING_S)]
)
def test_longer_work_stands_still_while_light_work_is_done(longer, monkeypatch):
    monkeypatch.setattr(fair_queue, "MIN_WORK_S", 0.0)
    waited = []
    monkeypatch.setattr(FairQueue, "until_idle", lambda of, seconds: waited.append((of, seconds)))
    with as_visitor(new_key()):
        with fair_queue.light_work_turn(0):
            jobs.Job().check()
        assert waited == []
        with longer():
            jobs.Job().check()
    ((of, seconds),) = waited
    assert of is fair_queue.LIGHT
    assert 0 <= seconds <= fair_queue.PAUSE_RATIO * fair_queue.COUNTED_WORK_S


def test_who_stands_still_goes_on_once_nothing_is_under_way():
    begun, go = threading.Event(), threading.Event()

    def light() -> None:
        with fair_queue.LIGHT.taken("another"):
            begun.set()
            go.wait(LONG_S)

    with ThreadPoolExecutor(2) as pool:
        working = pool.submit(light)
        begun.wait(LONG_S)
        fair_queue.LIGHT.until_idle(0.01)  # at most so long
        stands = pool.submit(fair_queue.LIGHT.until_idle, LONG_S)
        assert not stands.done()
        go.set()
        assert stands.result(LONG_S) is None
        working.result(LONG_S)


def test_light_work_goes_one_by_one():
    done = []

    def late() -> None:
        with as_visitor(new_key()), fair_queue.light_work_turn(0):
            done.append("late")

    with ThreadPoolExecutor(1) as other, as_visitor(new_key()):
        with fair_queue.light_work_turn(0):
            waits = other.submit(late)
            while fair_queue.LIGHT.counts != (1, 1):
                pass
            done.append("first")
        waits.result(LONG_S)
    assert done == ["first", "late"]
