"""Compilation of C++ that benchmarks need, on first use, into the user's cache.

The names of cached files include a hash of all that they depend on.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def compiler() -> str:
    """Return the C++ compiler: the environment variable CXX, else g++, else clang++.

    Raises:
        RuntimeError: no compiler is found.
    """
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        raise RuntimeError(
            "C++ of this benchmark is compiled when first used: install g++ or clang++"
        )
    return found


def checked(command: Sequence[str | Path]) -> str:
    """Run a command and return its output.

    Raises:
        RuntimeError: the command failed; the message has the command and its output.
    """
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
    return result.stdout


def cached_library(
    name: str, made_of: Iterable[bytes | str], build: Callable[[Path, Path], None]
) -> Path:
    """Return a shared library from the cache, building it if necessary.

    Args:
        name: of the library.
        made_of: everything that the result depends on; other contents lead to another file.
        build: called if the library is not cached, with a folder to work in and the file to create.
    """
    digest = hashlib.sha256()
    for part in made_of:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little") + content)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "robosim"
    library = cache / f"{name}-{digest.hexdigest()[:16]}.so"
    if not library.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            output = Path(folder) / library.name
            build(Path(folder), output)
            output.replace(library)
    return library


ENGINE = Path(__file__).resolve().parents[2] / "engine"


def with_engine(
    name: str, source: Path, floors: Sequence[str], also: Iterable[Path] = (), *, purpose: str
) -> Path:
    """Return a cached shared library of a CMake project and the engine folders that it needs.

    Args:
        name: of the library and of its target.
        source: folder of the project.
        floors: all folders of the checkout's engine that the target needs.
        also: other files that the project includes.
        purpose: purpose of the library, for the message if CMake is missing.

    Raises:
        RuntimeError: no C++ compiler or CMake, or their own message.
    """
    files = [ENGINE / "CMakeLists.txt", *sorted(source.iterdir()), *also]
    for floor in floors:
        files += sorted(file for file in (ENGINE / floor).rglob("*") if file.is_file())
    made_of: list[bytes | str] = [checked([compiler(), "--version"])]
    for file in files:
        made_of += [str(file.relative_to(ENGINE.parent)), file.read_bytes()]

    def build(folder: Path, output: Path) -> None:
        cmake = shutil.which("cmake")
        if cmake is None:
            raise RuntimeError(f"{purpose} is compiled when first used: install cmake")
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        checked(
            [cmake, "-S", source, "-B", folder, *generator, f"-DCMAKE_CXX_COMPILER={compiler()}"]
        )
        checked([cmake, "--build", folder, "--target", name, "--parallel", str(os.cpu_count())])
        next(folder.glob(f"lib{name}.*")).replace(output)

    return cached_library(name, made_of, build)


def declare(
    library: ctypes.CDLL, prefix: str, functions: Iterable[tuple[str, type | None, list[type]]]
) -> None:
    """Declare result and argument types of the functions `prefix`name of a library."""
    for name, result, arguments in functions:
        function = getattr(library, f"{prefix}{name}")
        function.restype, function.argtypes = result, arguments


def cpu() -> str:
    """Describe the processor and its features, as the operating system reports them.

    The text is part of the hash of code that is compiled for this processor alone.
    """
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return ""
    lines = [
        line for line in file.read_text().splitlines() if line.startswith(("model name", "flags"))
    ]
    return "\n".join(lines[:2])
