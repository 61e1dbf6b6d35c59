"""C++ that benchmarks need, compiled when first used and kept in the user's cache under a name that
holds its hash."""

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
    """The C++ compiler: the environment variable CXX, else g++, else clang++.

    Raises:
        RuntimeError: there is none.
    """
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        raise RuntimeError(
            "C++ of this benchmark is compiled when first used: install g++ or clang++"
        )
    return found


def checked(command: Sequence[str | Path]) -> str:
    """What a command printed.

    Raises:
        RuntimeError: it failed; holds the command and its messages.
    """
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
    return result.stdout


def cached_library(
    name: str, made_of: Iterable[bytes | str], build: Callable[[Path, Path], None]
) -> Path:
    """A shared library from the cache.

    Args:
        name: of the library.
        made_of: all that the result depends on: another content gives another file.
        build: called where the cache does not hold it, with a folder to work in and the file to
        make.
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
    """A shared library from the cache: a CMake project and the floors of the checkout's engine that
    it builds on.

    Args:
        name: of the library and of its target.
        source: the folder.
        floors: of the engine, all that the target needs.
        also: other files that it includes.
        purpose: what it is for, for the message where CMake is missing.

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
    """Gives the functions `prefix`name of a library their result and argument types."""
    for name, result, arguments in functions:
        function = getattr(library, f"{prefix}{name}")
        function.restype, function.argtypes = result, arguments


def cpu() -> str:
    """The processor and what it can do, as the system tells it: part of the hash of what is
    compiled for it alone."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return ""
    lines = [
        line for line in file.read_text().splitlines() if line.startswith(("model name", "flags"))
    ]
    return "\n".join(lines[:2])
