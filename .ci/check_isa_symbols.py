"""Fail if code compiled for AVX2 or AVX-512 could be linked for every processor.

The linker keeps one copy of each inline function or template instance (a weak symbol), from any of
the object files. A copy of std::vector<double>::resize from a file compiled for AVX-512, for
example, would then crash on a processor without AVX-512. So these files may define weak functions
only if their instruction set is part of the function's name. That is so for all templates on
Lanes<W, isa> or on the Isa.

Usage: check_isa_symbols.py BUILD_FOLDER     (of an optimized build: without inlining nearly
                                             everything is a symbol)
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# Values of `enum class Isa` (engine/base/isa.h), as the demangler prints them.
NUMBERS = {"v3": 1, "v4": 2}
ISA = re.compile(r"\(robosim::Isa\)(\d+)")


def weak_functions(objects: list[Path]) -> set[str]:
    """Names of the weak functions that these object files define.

    Weak data ('V') are equal in every copy.
    """
    lines = subprocess.run(
        ["nm", "-C", "--defined-only", *objects], check=True, capture_output=True, text=True
    ).stdout
    found = (re.fullmatch(r"[0-9a-f]+ W (.*)", line) for line in lines.splitlines())
    return {m.group(1) for m in found if m}


def main(build: Path) -> int:
    """Print every violation; return 1 if there is one."""
    wrong: list[str] = []
    for isa, number in NUMBERS.items():
        objects = sorted(o for d in build.glob(f"**/robosim_*_{isa}.dir") for o in d.rglob("*.o"))
        if not objects:
            wrong.append(f"{build} holds no object files of kernels for {isa}")
            continue
        functions = weak_functions(objects)
        if not functions:
            wrong.append(f"the kernels for {isa} define no templates: are these the right files?")
        wrong += [
            f"{isa}: {name}"
            for name in sorted(functions)
            if set(ISA.findall(name)) != {str(number)}
        ]
        print(f"{isa}: {len(objects)} object files, {len(functions)} weak functions")
    for line in wrong:
        print(line)
    if wrong:
        print(
            "Weak functions of kernels must have their instruction set in their name; see"
            " engine/README.md"
        )
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
