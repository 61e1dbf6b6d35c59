"""Run in a process of its own with ROBOSIM_ISA set: every function, every choice, every state, bit for bit.

Batches of 1, 7, 64 and 1000 states (fewer and more than lanes, with and without a rest), on 1, 2 and 8 threads,
against the methods of Model and Data one state at a time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "model"))

from functions import ARGUMENTS, alone, arguments, assert_same, calls, in_batch, of_state
from mechanisms import branched_robot

from robosim import batch

SIZES = (1, 7, 64, 1000)


def main() -> None:
    batch.set_threads(8)
    checked = 0
    for model in (branched_robot(), branched_robot(floating=False, mimic=False)):
        data = model.data()
        for name in ARGUMENTS:
            for n in SIZES:
                given = arguments(model, n, seed=n)
                for choices in calls(model, name, n):
                    one_thread = in_batch(model, name, given, choices, threads=1)
                    for i in range(n) if n < 1000 else range(0, n, 37):
                        expected = alone(model, name, given, choices, i)
                        assert_same(of_state(one_thread, i), expected)
                        assert_same(alone(data, name, given, choices, i), expected)
                        checked += 1
                    for threads in (2, 8):
                        assert_same(in_batch(model, name, given, choices, threads=threads), one_thread)
    print(checked)


if __name__ == "__main__":
    main()
