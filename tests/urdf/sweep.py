"""Load every URDF below some folders and report the outcome of each.

Usage: python tests/urdf/sweep.py FOLDER... [--meshes] [--skip] [--pinocchio]

A robot either loads, with the hull of every collision mesh, or is refused with file:line and a
reason. With --meshes, every visual mesh is parsed, too. With --skip, missing collision meshes are
left out. With --pinocchio, loaded robots are compared with Pinocchio's reading of the file. Any
other outcome, and any difference above 1e-9, is a defect. Defects are listed and make the exit
status 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from robosim.errors import RobosimError
from robosim.meshes import load_mesh
from robosim.model import Model
from robosim.urdf import load_robot

Compare = Callable[[Path, Model], None]
# Start of a refusal: a file and a line in it.
PLACE = re.compile(r"\S.*?:\d+: ")


def outcome(call: Callable[[], object]) -> tuple[str, str]:
    """("loaded" | "refused" | "defect", message) of a call that loads a robot."""
    try:
        return "loaded", repr(call())
    except RobosimError as e:
        return ("refused" if PLACE.match(str(e)) else "defect"), str(e)
    except Exception as e:
        return "defect", f"{type(e).__name__}: {e}"


def sweep_one(
    path: Path,
    *,
    package_dirs: list[Path],
    parsed: set[Path] | None = None,
    skip: bool = False,
    compare: Compare | None = None,
) -> tuple[str, str]:
    """Outcome of one file.

    With `parsed`, each visual mesh is read once, too. `skip` leaves out missing collision meshes.
    `compare` is called with each loaded model.
    """

    def load() -> object:
        model = load_robot(
            path,
            package_dirs=package_dirs,
            filter_self_collisions=False,
            missing_meshes="skip" if skip else "refuse",
        )
        if compare is not None:
            compare(path, model)
        for visuals in model.visuals.values() if parsed is not None else ():
            for visual in visuals:
                if visual.mesh is not None and visual.mesh not in parsed:
                    try:
                        load_mesh(visual.mesh)
                    except RobosimError as e:
                        raise RobosimError(f"visual mesh {e}", file=path, line=1) from None
                    parsed.add(visual.mesh)
        return model

    return outcome(load)


def main() -> int:
    """Sweep the folders of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--meshes", action="store_true", help="parse visual meshes too")
    parser.add_argument(
        "--skip", action="store_true", help="leave collision meshes out that are missing"
    )
    parser.add_argument("--pinocchio", action="store_true", help="compare with Pinocchio")
    parser.add_argument(
        "--list", action="store_true", help="print every file, not only those refused"
    )
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    parsed: set[Path] | None = set() if arguments.meshes else None
    compared = [0, 0]  # robots, and those with valid dynamics

    def compare(path: Path, model: Model) -> None:
        from against_pinocchio import deviation, read

        if (peer := read(path)) is not None:
            found = deviation(model, peer)
            compared[0] += 1
            compared[1] += found.dynamics is not None
            if not max(found.kinematics, found.dynamics or 0) <= 1e-9:
                raise AssertionError(f"differs from Pinocchio: {found}")

    begin = time.perf_counter()
    for folder in arguments.folders:
        for path in sorted(
            p for p in folder.rglob("*") if p.suffix.lower() == ".urdf" and p.is_file()
        ):
            kind, message = sweep_one(
                path,
                package_dirs=[],
                parsed=parsed,
                skip=arguments.skip,
                compare=compare if arguments.pinocchio else None,
            )
            counts[kind] += 1
            if kind != "loaded" or arguments.list:
                print(
                    f"{kind:8} {path.relative_to(folder)}\n        "
                    f" {message.replace(str(folder), '...')[:600]}"
                )
    total = sum(counts.values())
    seconds = time.perf_counter() - begin
    print(
        f"{total} URDFs: "
        + ", ".join(f"{n} {kind}" for kind, n in counts.items())
        + f"; {seconds:.1f} s"
    )
    if arguments.pinocchio:
        print(f"{compared[0]} robots move as Pinocchio's, {compared[1]} of them with its dynamics")
    return 1 if counts["defect"] else 0


if __name__ == "__main__":
    sys.exit(main())
