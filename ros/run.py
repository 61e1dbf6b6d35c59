"""Process of a node: start of ROS, life of the node, clean end by a signal.

Threads: rclpy's executor has its own thread. The main thread waits for a signal (SIGINT, SIGTERM)
or for a request of the node to end. Then the node's `close()` is called first, so that moving arms
hold before anything is destroyed. A second signal ends the process at once.

Exit codes: 0 ended as requested; 1 a callback failed, or a code from the node; 2 invalid parameters
or arguments, or a missing ROS package.
"""

from __future__ import annotations

import importlib
import inspect
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from robosim.errors import MissingDependencyError, RobosimError
from robosim.ros.clock_watch import ClockWatch
from robosim.ros.executor_thread import ExecutorThread
from robosim.ros.parameters import Parameter

__all__ = ["main", "require"]

EXIT_DONE, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2

# Message packages are Debian packages of the same name; rclpy and these are in every installation
# of ROS 2.
_BASE = (
    "rclpy",
    "std_msgs",
    "sensor_msgs",
    "geometry_msgs",
    "trajectory_msgs",
    "diagnostic_msgs",
    "std_srvs",
)


def require(*packages: str) -> None:
    """Check that ROS packages can be imported.

    Raises:
        MissingDependencyError: a package is missing; with the remedy.
    """
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingDependencyError(_advice(package, error)) from error


def _advice(package: str, error: ImportError) -> str:
    what = f"the ROS 2 package {package!r} cannot be imported ({' '.join(str(error).split())}). "
    if package == "robosim_msgs":
        return (
            f"{what}Build it from robosim's sources with colcon, and source the workspace's"
            " setup.bash"
        )
    if package in _BASE:
        return (
            f"{what}Install ROS 2 (Humble or newer), source its setup.bash, and use a Python"
            " environment that sees it: `python3 -m venv --system-site-packages` with ROS's Python"
            " version"
        )
    name = package.replace("_", "-")
    return f"{what}With ROS 2 sourced: sudo apt install ros-$ROS_DISTRO-{name}"


def main(
    make_node: Callable[..., Any],
    *,
    parameters: Sequence[Parameter] = (),
    summary: str = "",
    requires: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
) -> int:
    """Run a node until it is requested to end.

    Args:
        make_node: imports its dependencies and returns the rclpy node. If it takes an argument, it
            receives `stop`, a function of an exit code that ends the process from any thread. The
            node may have `close()`, which may return another exit code.
        parameters: parameters of the node, for --help.
        summary: description of the node, for --help.
        requires: required ROS packages in addition to rclpy.
        arguments: command-line arguments; those of the process if None.

    Returns:
        The exit code, see the module docstring.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if any(a in ("-h", "--help") for a in given):
        print(_help(summary, parameters))
        return EXIT_DONE
    try:
        require("rclpy", *requires)
        return _run(make_node, given)
    except RobosimError as error:
        print(f"robosim: error: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return EXIT_BAD_INPUT


def _help(summary: str, parameters: Sequence[Parameter]) -> str:
    lines = [summary, "", "Parameters, given as --ros-args -p NAME:=VALUE or --params-file FILE:"]
    for p in parameters:
        default = " ".join(map(str, p.default)) if isinstance(p.default, tuple) else str(p.default)
        lines.append(f"  {p.name} ({p.valid}; default {default or 'empty'})\n      {p.description}")
    return "\n".join(lines).strip()


class _Process:
    """State that the threads share: end request and exit code."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.code = EXIT_DONE
        self.signal = ""

    def stop(self, code: int = EXIT_DONE) -> None:
        """End the process with this exit code. Only the first call has an effect."""
        if not self.ended.is_set():
            self.code = code
            self.ended.set()

    def on_signal(self, number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.signal = signal.Signals(number).name
        self.stop()

    def on_end(self, failure: BaseException | None) -> None:
        """Handle the end of the executor's thread."""
        if failure is not None:
            traceback.print_exception(failure)
        self.stop(EXIT_DONE if failure is None else EXIT_FAILED)


def _run(make_node: Callable[..., Any], arguments: Sequence[str]) -> int:
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from rclpy.utilities import remove_ros_args

    argv = [sys.argv[0], *arguments]
    try:
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy's own kinds, for invalid arguments
        print(f"robosim: error: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return EXIT_BAD_INPUT
    process = _Process()
    node: Any = None
    executor: ExecutorThread | None = None
    # Start the node, and wait for the end.
    try:
        if unknown := remove_ros_args(argv)[1:]:
            raise RobosimError(
                f"argument {unknown[0]!r} is not known; parameters follow --ros-args, see --help"
            )
        signal.signal(signal.SIGINT, process.on_signal)
        signal.signal(signal.SIGTERM, process.on_signal)
        node = make_node(process.stop) if inspect.signature(make_node).parameters else make_node()
        ClockWatch(node)
        executor = ExecutorThread(node, process.on_end)
        process.ended.wait()
        if process.signal:
            node.get_logger().info(f"ends: {process.signal}")
    finally:
        # Close the node first, while ROS still runs.
        if hasattr(node, "close"):
            process.code = node.close() or process.code
        if executor is not None:
            executor.stop()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return process.code
