"""Measures stalls of a test's processes for lack of a processor, and if the machine is quiet.

Tests of nodes that talk at 500 Hz need processors without delay. If a neighbor or the host of a
virtual machine takes the processors away for a tenth of a second, a test may fail without a fault
of the code under test. A witness, which is a process of its own, measures two things on the clock
of time.monotonic():

- The time for which threads of this process and its descendants were ready to run and did not,
  every tenth of a second. Linux counts this time for each thread, in
  /proc/PID/task/TID/schedstat. Threads that only wait for each other are no stall. So the time
  counts only up to the processor time that other processes had, the host of a virtual machine
  included.
- Standstills of processors. A thread on every processor sleeps 10 ms at a time and records late
  wake-ups. On systems that do not count waiting times, this is the only measurement.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["COUNTS_WAITING", "LEAST", "Stall", "Stalls", "wait_until_quiet"]

LEAST = 0.05  # [s] of a stall; the shortest time limit of nodes is 0.1 s
WAITED, STOOD = "others had the processors", "a processor stood still"  # the two kinds
COUNTS_WAITING = Path("/proc/self/task").is_dir() and Path("/proc/self/schedstat").exists()

_PERIOD = 0.1  # [s] between two looks at waiting times
_SHORT = 0.25  # [s] in which waiting adds up to a stall: two looks, and their delays
_NAP = 0.01  # [s] that the watchers of processors sleep
_KEPT = 10_000  # latest looks and stalls: a quarter of an hour
_SETTLED = 2.0  # [s] longest wait for threads that are still waiting
_TICK = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01  # [s] of /proc/stat
_QUIET, _LOOK = 0.1, 1.0  # a quiet machine: less than a tenth of one processor busy, for a second


class Stall(NamedTuple):
    """Period in which this machine did not run threads that were ready to run."""

    end: float  # [s] of time.monotonic()
    length: float  # [s]; summed over processes that waited at the same time
    kind: str


class Stalls:
    """Recorder of stalls of this process and its descendants, until it is closed.

    Attributes:
        pid: process id of the witness.
    """

    def __init__(self) -> None:
        self._witness = subprocess.Popen(
            [sys.executable, "-I", __file__, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._witness.pid
        self.now()  # the witness watches from here on

    def now(self) -> float:
        """Present time; waiting before it and after it is counted separately."""
        self._ask(None)
        return time.monotonic()

    def since(self, begin: float) -> list[Stall]:
        """Stalls that ended after `begin`, a result of `now`, or have not ended yet."""
        return [Stall(*fields) for fields in self._ask(begin)]

    def _ask(self, begin: float | None) -> list[list]:
        assert self._witness.stdin is not None
        assert self._witness.stdout is not None
        self._witness.stdin.write(json.dumps(begin) + "\n")
        self._witness.stdin.flush()
        return json.loads(self._witness.stdout.readline())

    def close(self) -> None:
        """End the witness."""
        self._witness.kill()
        self._witness.communicate()


def wait_until_quiet(most: float) -> bool:
    """Wait until almost nothing runs here, or for `most` seconds; return true if it is quiet."""
    end = time.monotonic() + most
    while COUNTS_WAITING and time.monotonic() < end:
        begin, idle, processors = time.monotonic(), *_idle()
        time.sleep(_LOOK)  # no event reports that nothing happens
        busy = (time.monotonic() - begin) * processors - (_idle()[0] - idle)
        if busy < _QUIET * _LOOK + 2 * _TICK:
            return True
    return False


def _idle() -> tuple[float, int]:
    """Idle time of the processors [s], summed, and their number."""
    first, *others = Path("/proc/stat").read_text().splitlines()
    fields = first.split()
    return (int(fields[4]) + int(fields[5])) * _TICK, sum(line.startswith("cpu") for line in others)


# -- The witness's process


class _Look(NamedTuple):
    """Waiting times between the previous look and this one."""

    begin: float
    end: float
    waited: float  # [s]: the longest waiting thread of each process, summed over processes
    taken: float  # [s] of processors that others had


class _Family:
    """Descendants of a process, with the running and waiting times of their threads."""

    def __init__(self, root: int) -> None:
        self._belongs = {root: True, os.getpid(): False}  # by pid
        self._counted: dict[int, tuple[int, int]] = {}  # running and waiting time [ns], by thread
        self._still: set[Path] = set()  # threads with unchanged times in the last two looks
        self._time, self._idle = time.monotonic(), _idle()[0]
        self.looks: deque[_Look] = deque(maxlen=_KEPT)
        self.look()
        self.looks.clear()  # it contained earlier times

    def look(self) -> None:
        """Record the times since the previous look."""
        ran, waited, counted, still = 0, 0, {}, set()
        for pid in self._members():
            longest = 0
            for thread in _entries(f"/proc/{pid}/task"):
                file = Path(f"/proc/{pid}/task/{thread}")
                try:
                    run, wait = map(int, (file / "schedstat").read_bytes().split()[:2])
                except (OSError, ValueError):  # the thread has ended
                    continue
                before = self._counted.get(thread, (0, 0))
                counted[thread] = run, wait
                ran += run - before[0]
                longest = max(longest, wait - before[1])
                if before == (run, wait):
                    still.add(file)
            waited += longest
        now, (idle, processors) = time.monotonic(), _idle()
        taken = (now - self._time) * processors - (idle - self._idle) - ran * 1e-9
        self.looks.append(_Look(self._time, now, waited * 1e-9, taken))
        self._time, self._idle, self._counted, self._still = now, idle, counted, still

    def look_until_settled(self) -> None:
        """Look until all waiting threads got a processor, as Linux counts a wait when it ends."""
        self.look()
        end = time.monotonic() + _SETTLED
        waiting = {file for file in self._still if _is_ready(file)}
        while waiting and time.monotonic() < end:
            time.sleep(_NAP)
            self.look()
            waiting = {file for file in waiting & self._still if _is_ready(file)}

    def stalls(self, begin: float) -> list[Stall]:
        """Stalls since `begin`: times in which too much waiting occurred within a short time."""
        looks = [look for look in self.looks if look.end > begin]
        stalled: set[int] = set()
        first, waited, taken = 0, 0.0, 0.0  # of the looks within a short time up to this one
        for i, look in enumerate(looks):
            waited, taken = waited + look.waited, taken + look.taken
            while first < i and look.end - looks[first].begin > _SHORT:
                waited, taken = waited - looks[first].waited, taken - looks[first].taken
                first += 1
            if min(waited, taken) >= LEAST:
                stalled.update(range(first, i + 1))
        found: list[Stall] = []
        for i in sorted(stalled):
            length = max(0.0, min(looks[i].waited, looks[i].taken))
            if i - 1 in stalled:
                length += found.pop().length
            found.append(Stall(looks[i].end, length, WAITED))
        return found

    def _members(self) -> list[int]:
        """Processes of the family: those known before, and new descendants."""
        present = _entries("/proc")
        belongs = {pid: self._belongs[pid] for pid in present if pid in self._belongs}
        self._belongs = belongs
        for pid in present:  # in ascending order, so that most parents come before their children
            if pid not in belongs:
                self._settle(pid)
        return [pid for pid, member in belongs.items() if member]

    def _settle(self, pid: int) -> bool:
        if pid not in self._belongs:
            try:
                parent = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
            except OSError:
                return False
            self._belongs[pid] = parent > 0 and self._settle(parent)
        return self._belongs[pid]


def _entries(folder: str) -> list[int]:
    """Numbers among the names in a folder of /proc."""
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isdecimal())
    except OSError:
        return []


def _is_ready(thread: Path) -> bool:
    try:
        return (thread / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"R"
    except OSError:
        return False


class _Watchers:
    """A thread on every processor, which records late wake-ups."""

    def __init__(self) -> None:
        self._woken = threading.Condition()
        self._stalls: deque[Stall] = deque(maxlen=_KEPT)
        self._last: dict[int, float] = {}
        for processor in os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [-1]:
            self._last[processor] = time.monotonic()
            threading.Thread(target=self._watch, args=(processor,), daemon=True).start()

    def _watch(self, processor: int) -> None:
        if processor >= 0:
            os.sched_setaffinity(0, {processor})  # of this thread
        while True:
            time.sleep(_NAP)
            with self._woken:
                now, late = time.monotonic(), time.monotonic() - self._last[processor] - _NAP
                self._last[processor] = now
                if late > LEAST:
                    self._stalls.append(Stall(now, late, STOOD))
                self._woken.notify_all()

    def stalls(self, begin: float) -> list[Stall]:
        """Stalls since `begin`, including a processor that stands still at this moment."""
        now = time.monotonic()
        with self._woken:
            self._woken.wait_for(lambda: min(self._last.values()) >= now)
            return [stall for stall in self._stalls if stall.end > begin]


def _witness(root: int) -> None:
    """Answer each line of stdin: null begins a new look, a time requests the stalls since then."""
    watchers = _Watchers()
    lock = threading.Lock()
    family = _Family(root) if COUNTS_WAITING else None

    def locked(action: Callable[[], None]) -> None:
        with lock:
            action()

    def keep_looking(family: _Family) -> None:
        while True:
            time.sleep(_PERIOD)
            locked(family.look)

    if family:
        threading.Thread(target=keep_looking, args=(family,), daemon=True).start()
    for line in sys.stdin:
        begin, stalls = json.loads(line), []
        if family:
            locked(family.look if begin is None else family.look_until_settled)
        if begin is not None:
            stalls = watchers.stalls(begin) + (family.stalls(begin) if family else [])
        print(json.dumps(sorted(stalls)), flush=True)


if __name__ == "__main__":
    _witness(int(sys.argv[1]))
