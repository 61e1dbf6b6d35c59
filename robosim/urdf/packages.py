"""Resolution of `package://`, `model://`, `file://` and relative references of descriptions.

A package is searched in this order: in `package_dirs` (a folder of that name inside one of them, or
one of them that is the package), in ROS_PACKAGE_PATH, in `share/` of AMENT_PREFIX_PATH, and upwards
from the file with the reference: a folder of that name, or one with a package.xml of that name. If
there is none, the rest of the reference is searched in the folders above the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["find_package", "resolve"]

_MOST_ABOVE = 5  # number of parent folders to search if a package is not found
_MANIFEST_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")


def resolve(
    uri: str, base: Path | None, package_dirs: Sequence[str | PathLike[str]] = ()
) -> tuple[Path | None, str]:
    """Resolve a reference to a file.

    Args:
        uri: as written.
        base: folder of the file with the reference; None for a description given as a string.
        package_dirs: folders searched first for packages.

    Returns:
        The path, which may not exist, and a remark or ""; or None and the reason.
    """
    if "\x00" in uri:
        return None, "holds a null byte"
    if uri.startswith(("package://", "model://")):
        package, _, rest = uri.split("://", 1)[1].lstrip("/").partition("/")
        if not package or not rest:
            return None, "must be package://NAME/PATH"
        rest = rest.lstrip("/")  # package://NAME//PATH, as generators write it
        folder = find_package(package, base, package_dirs)
        if folder is not None:
            return folder / rest, ""
        # The file is still inside a folder above that was renamed, or copied without its
        # package.xml.
        inside = base is not None and ".." not in Path(package, rest).parts
        for above in (
            (base.resolve(), *base.resolve().parents)[:_MOST_ABOVE] if base and inside else ()
        ):
            if (above / rest).is_file():
                return (
                    above / rest,
                    f"package {package!r} is not found; its file is taken from {above}",
                )
        return (
            None,
            (
                f"package {package!r} is not found: name its folder, or the one above it, in"
                " package_dirs"
            ),
        )
    if uri.startswith("file:"):
        return Path(unquote(urlsplit(uri).path)), ""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", uri):
        return (
            None,
            f"scheme {uri.partition(':')[0]!r} is not supported; use package://, file:// or a path",
        )
    path = Path(uri)
    if "\\" in uri and not path.exists() and (base is None or not (base / path).exists()):
        path = Path(uri.replace("\\", "/"))  # as written on Windows
    if path.is_absolute():
        return path, ""
    if base is None:
        return (
            None,
            (
                "is relative, but the description was given as a string; use an absolute path or"
                " package://"
            ),
        )
    return base / path, ""


def find_package(
    name: str, base: Path | None, package_dirs: Sequence[str | PathLike[str]] = ()
) -> Path | None:
    """Folder of a ROS package, or None."""
    if name in ("", ".", "..") or "/" in name or "\\" in name:
        return None
    for folder in (Path(d) for d in package_dirs):
        if _is_package(folder, name):
            return folder
        if (folder / name).is_dir():
            return folder / name
    for folder in _from_environment():
        if (folder / name).is_dir():
            return folder / name
    if base is not None:
        for folder in (base.resolve(), *base.resolve().parents):
            if _is_package(folder, name):
                return folder
            if (folder / name).is_dir():
                return folder / name
    return None


def _from_environment() -> Iterable[Path]:
    yield from (Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p)
    yield from (
        Path(p) / "share" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p
    )


def _is_package(folder: Path, name: str) -> bool:
    """Return true if a folder is the package, by its own name or by its manifest's."""
    if not folder.is_dir():
        return False
    if folder.name == name:
        return True
    try:
        manifest = folder / "package.xml"
        if not manifest.is_file() or manifest.stat().st_size > 10**6:
            return False
        found = _MANIFEST_NAME.search(manifest.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
    return found is not None and found[1] == name
