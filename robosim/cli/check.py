"""`robosim check`: what is installed, how it was built, and what this machine offers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

# Optional package, the extra that installs it, its use.
_EXTRAS = (
    ("viser", "view", "robosim view, and HTML from robosim render"),
    ("av", "video", "films as MP4"),
    ("coacd", "decomp", "convex pieces of concave meshes"),
    ("ompl", "bench", "OMPL's planners"),
)


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "check",
        help="versions, build flags and instruction set of this installation",
        description=__doc__,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Collect facts and print them."""
    from robosim.cli.output import print_heading, print_json, print_pairs

    facts = collect()
    if args.json:
        print_json(facts)
        return 0
    print(f"robosim {facts['robosim'] or '(not installed: runs from its source tree)'}")
    print_heading("Here")
    print_pairs(
        {
            "Python": facts["python"],
            "platform": facts["platform"],
            "package": facts["package"],
            "cache": facts["cache"],
        }
    )
    print_heading("Engine")
    build = facts["engine"]
    kernels = (
        f"{build['kernels']} (of {', '.join(build['usable_kernels'])}; set ROBOSIM_ISA to choose)"
    )
    if build["missing_kernels"]:
        kernels += (
            f"; for this processor's {build['missing_kernels']}, install from source on this"
            " machine"
        )
    print_pairs(
        {
            "compiler": f"{build['compiler']}, C++{build['cpp_standard'] // 100 % 100}",
            "flags": build["flags"] + (", assertions on" if build["assertions"] else ""),
            "built for": build["instruction_set"],
            "kernels for": kernels,
            "processor has": ", ".join(build["cpu_features"]) or "nothing beyond that",
            "Eigen": f"{build['eigen']} ({build['eigen_simd']})",
            "pybind11": build["pybind11"],
        }
    )
    print_heading("Packages")
    print_pairs({name: version or "missing" for name, version in facts["requirements"].items()})
    print_heading("Optional packages")
    print_pairs(
        {
            e["name"]: (
                e["version"]
                or f"not installed: pip install 'robosim[{e['extra']}]' brings {e['for']}"
            )
            for e in facts["optional"]
        }
    )
    return 0


def collect() -> dict[str, Any]:
    """Return all facts as nested dicts of strings, see `robosim check --json`."""
    import platform
    from pathlib import Path

    import robosim
    from robosim import _engine
    from robosim.meshes import cache_folder

    return {
        "robosim": installed_version("robosim"),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": f"{platform.system()} {platform.machine()}",
        "package": str(Path(robosim.__file__).resolve().parent),
        "cache": str(cache_folder()),
        "engine": _engine.build_info(),
        "requirements": {name: installed_version(name) for name in _requirements()},
        "optional": [
            {"name": n, "version": installed_version(n), "extra": extra, "for": use}
            for n, extra, use in _EXTRAS
        ],
    }


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed package, or None."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _requirements() -> list[str]:
    """Return the names of the run-time dependencies that the installed package declares."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    try:
        declared = requires("robosim") or []
    except PackageNotFoundError:  # run from a source tree that was never installed
        declared = ["numpy", "scipy", "trimesh", "yourdfpy", "matplotlib"]
    names = (re.match(r"[A-Za-z0-9._-]+", r) for r in declared if "extra ==" not in r)
    return [m.group() for m in names if m]
