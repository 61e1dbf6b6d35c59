"""Compare batches with single states, bit for bit, for every method and choice.

This module runs in a separate process with ROBOSIM_ISA set. Batches have 1, 7, 64 and 1000 states
(fewer and more than lanes, with and without a remainder), on 1, 2 and 8 threads. Single states are
evaluated by Model and by Data.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "model"))

from mechanisms import branched_robot
from methods import ARGUMENTS, alone, arguments, assert_same, calls, of_state, together

import robosim

SIZES = (1, 7, 64, 1000)


def main() -> None:
    robosim.set_threads(8)
    checked = 0
    for model in (branched_robot(), branched_robot(floating=False, mimic=False)):
        data = model.data()
        for name in ARGUMENTS:
            for n in SIZES:
                given = arguments(model, n, seed=n)
                for choices in calls(model, name, n):
                    with robosim.threads(1):
                        one_thread = together(model, name, given, choices)
                    for i in range(n) if n < 1000 else range(0, n, 37):
                        expected = alone(model, name, given, choices, i)
                        assert_same(of_state(one_thread, i), expected)
                        assert_same(alone(data, name, given, choices, i), expected)
                        checked += 1
                    for threads in (2, 8):
                        with robosim.threads(threads):
                            assert_same(together(model, name, given, choices), one_thread)
    print(checked)


if __name__ == "__main__":
    main()
