"""Generate ROS 2 interface packages into the Python environment that runs this script.

Usage: PREFIX/bin/python ros_interfaces.py PACKAGE_FOLDER...

PREFIX holds ROS 2 as wheels (see ros_environment). Each package folder has package.xml,
CMakeLists.txt and interface text. The packages must not depend on each other. A package is
generated once per text: a stamp in share/<package> records a digest of its sources.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PREFIX = Path(sys.prefix)
STAMP = "generated_from.sha256"


def relocate_cmake_files() -> int:
    """Point the exported CMake files at this machine's headers.

    They point at headers of the machine that built the wheels.
    """
    moved = 0
    headers = {
        re.compile(r'[^";\n]*/include/python3\.\d+'): sysconfig.get_path("include"),
        re.compile(r'[^";\n]*/numpy/_?core/include'): np.get_include(),
    }
    for path in (PREFIX / "share").glob("*/cmake/*.cmake"):
        text = old = path.read_text(encoding="utf-8")
        for pattern, here in headers.items():
            text = pattern.sub(lambda found, here=here: _present(found[0], here), text)
        if text != old:
            path.write_text(text, encoding="utf-8")
            moved += 1
    return moved


def _present(folder: str, here: str) -> str:
    return folder if not folder.startswith("/") or Path(folder).is_dir() else here


def digest(source: Path) -> str:
    """Hash of everything that the generated package depends on."""
    hashed = hashlib.sha256(Path(__file__).read_bytes())
    hashed.update((Path(__file__).parent / "ros-requirements.txt").read_bytes())
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        hashed.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes())
    return hashed.hexdigest()


def generate(source: Path) -> str:
    """Configure, build and install one package; return a line that says what was done.

    Raises RuntimeError with the end of the log.
    """
    started = time.perf_counter()
    stamp = PREFIX / "share" / source.name / STAMP
    wanted = digest(source)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return f"{source.name}: up to date"
    build = PREFIX / "build" / source.name
    stamp.unlink(missing_ok=True)
    _remove_installed(build / "install_manifest.txt")
    _run(
        *(
            "cmake",
            "-S",
            source,
            "-B",
            build,
            "-G",
            "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={PREFIX / 'bin' / 'ninja'}",
        ),
        *(
            f"-DCMAKE_INSTALL_PREFIX={PREFIX}",
            f"-DCMAKE_PREFIX_PATH={PREFIX}",
            "-DBUILD_TESTING=OFF",
        ),
        *(f"-DPython3_EXECUTABLE={sys.executable}", "-DPython3_FIND_VIRTUALENV=ONLY", "-Wno-dev"),
    )
    _run("cmake", "--build", build, "--target", "install", "-j", str(os.cpu_count() or 2))
    stamp.write_text(wanted, encoding="utf-8")
    return f"{source.name}: generated in {time.perf_counter() - started:.0f} s"


def _remove_installed(manifest: Path) -> None:
    """Remove the files of a previous installation, so that no obsolete interface remains."""
    if manifest.is_file():
        for line in manifest.read_text(encoding="utf-8").splitlines():
            Path(line).unlink(missing_ok=True)


def _run(program: str, *arguments: str | Path) -> None:
    command = [str(PREFIX / "bin" / program), *map(str, arguments)]
    environment = os.environ | {"AMENT_PREFIX_PATH": str(PREFIX), "VIRTUAL_ENV": str(PREFIX)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        log = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise RuntimeError(f"{' '.join(command)}\n{log}\nended with status {done.returncode}")


def main() -> int:
    """Generate all packages in the arguments, two at a time; return 1 if one failed."""
    moved = relocate_cmake_files()
    if moved:
        print(f"{moved} CMake files relocated")
    failures = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for job in [pool.submit(generate, Path(folder).resolve()) for folder in sys.argv[1:]]:
            try:
                print(job.result(), flush=True)
            except RuntimeError as error:
                failures += 1
                print(error, file=sys.stderr)
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
