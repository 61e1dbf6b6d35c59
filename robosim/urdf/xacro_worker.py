"""Worker process that expands one xacro file: JSON request on stdin, JSON answer on stdout.

See `robosim.urdf.xacro`.
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
import types
import xml.parsers.expat
from pathlib import Path
from typing import Any

from robosim.urdf.packages import find_package

_EXPRESSION_SECONDS = 0.5  # of processor time
_MAX_MACRO_CALLS = 5_000
_MAX_MACRO_DEPTH = 40
_MAX_NODES = 1_000_000
_MEMORY_BYTES = 4 * 2**30


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        pass  # not available on every platform; the time limits remain


def _provide_packages(base: Path, package_dirs: list[str]) -> None:
    """Provide the module that xacro imports for $(find ...), backed by our own package search."""

    def get_package_share_directory(name: str) -> str:
        folder = find_package(name, base, package_dirs)
        if folder is None:
            raise LookupError(
                f"package '{name}' is not found: name its folder, or the one above it, in"
                " package_dirs"
            )
        return str(folder)

    package = types.ModuleType("ament_index_python")
    module = types.ModuleType("ament_index_python.packages")
    # The module is made up here.
    module.get_package_share_directory = get_package_share_directory  # type: ignore[attr-defined]
    sys.modules["ament_index_python"], sys.modules["ament_index_python.packages"] = package, module


def _guard_expressions(xacro: Any) -> None:
    """Limit each expression to half a second.

    SIGVTALRM then ends the process by its default action, even inside C code.
    """
    evaluate, call = xacro.safe_eval, xacro.handle_macro_call
    calls = 0

    def safe_eval(expression: str, *args: Any, **kwargs: Any) -> Any:
        # The parent process reads the last expression if this process does not return.
        sys.stderr.write(f"\x1e{expression}\n")
        sys.stderr.flush()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_VIRTUAL, _EXPRESSION_SECONDS)
        try:
            return evaluate(expression, *args, **kwargs)
        finally:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def handle_macro_call(node: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += node.tagName.startswith("xacro:")
        if calls > _MAX_MACRO_CALLS or len(xacro.macrostack) > _MAX_MACRO_DEPTH:
            raise xacro.XacroException(
                f"macros are called more than {_MAX_MACRO_CALLS} times or {_MAX_MACRO_DEPTH} deep,"
                f" at <{node.tagName}>"
            )
        return call(node, *args, **kwargs)

    xacro.safe_eval, xacro.handle_macro_call = safe_eval, handle_macro_call


def _expand(request: dict[str, Any]) -> dict[str, Any]:
    import xacro

    path = Path(request["path"])
    _provide_packages(path.parent, request["package_dirs"])
    _guard_expressions(xacro)
    xacro.verbosity = 0
    try:
        document = xacro.process_file(str(path), mappings=request["arguments"], verbosity=0)
        return {"urdf": document.toprettyxml(indent="  ")}
    except xml.parsers.expat.ExpatError as e:
        return {"error": f"not well-formed XML: {e}", "file": xacro.filestack[-1], "line": e.lineno}
    except RecursionError:
        return {
            "error": "includes or macros itself without end",
            "file": xacro.filestack[-1] if xacro.filestack else None,
        }
    except MemoryError:
        return {"error": "needs more than 4 GB of memory"}
    except Exception as e:
        return {
            "error": str(e) or repr(e),
            "file": xacro.filestack[-1] if xacro.filestack else None,
        }


def main() -> None:
    """Handle one request."""
    request = json.loads(sys.stdin.buffer.read())
    _limit_memory()
    answer = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()):
        result = _expand(request)
    json.dump(result, answer)
