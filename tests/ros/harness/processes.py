"""Real processes for tests.

Each process is started in a group of its own, its output is kept, and it is killed at the end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from .waiting import LIMIT, wait_for

_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None


def _die_with_parent() -> None:
    """Let the child die with its parent.

    An arm that outlives killed tests would disturb the next test in its domain.
    """
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """Running program; a file collects its output (stdout and stderr, interleaved)."""

    def __init__(
        self, name: str, command: Sequence[str], log: Path, folder: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.command = list(command)
        self.log = log
        with log.open("wb") as out:
            self.popen = subprocess.Popen(
                self.command,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                env=dict(env),
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None

    def output(self) -> str:
        """All output of the process so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_output(self, text: str, timeout: float = LIMIT) -> str:
        """Return the output as soon as it contains `text`.

        Fails if the process ends without printing the text.
        """

        def said() -> str | None:
            ended = not self.alive  # first, so that the output is complete if it has
            output = self.output()
            if text in output:
                return output
            assert not ended, (
                f"{self.name} ended with {self.popen.returncode} without {text!r}:\n{output}"
            )
            return None

        found = wait_for(said, f"{self.name} to print {text!r}", timeout)
        assert found is not None
        return found

    def send(self, number: int) -> None:
        """Send a signal to the process, not to its children."""
        self.popen.send_signal(number)

    def freeze(self) -> None:
        """Stop the process from running, as if its machine hung; `resume` continues it."""
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.send(signal.SIGCONT)

    def wait(self, timeout: float = LIMIT) -> int:
        """Wait until the process ends by itself; return its exit status."""
        wait_for(lambda: not self.alive, f"{self.name} to end", timeout)
        return int(self.popen.returncode)

    def stop(self, number: int = signal.SIGINT, timeout: float = LIMIT) -> int:
        """Interrupt the process as Ctrl-C does; return its exit status."""
        if self.alive:
            self.send(number)
        return self.wait(timeout)

    def kill(self) -> None:
        """Kill the process and its children at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


def node_command(
    node: str,
    arguments: Sequence[str] = (),
    *,
    params: Mapping[str, Any] | None = None,
    remap: Mapping[str, str] | None = None,
    name: str | None = None,
    namespace: str | None = None,
    folder: Path,
) -> list[str]:
    """Command that runs robosim.ros.<node> with these parameters and names.

    The parameters are written to a file in `folder`.
    """
    remap = (
        dict(remap or {})
        | ({"__node": name} if name else {})
        | ({"__ns": namespace} if namespace else {})
    )
    ros = [word for old, new in remap.items() for word in ("-r", f"{old}:={new}")]
    if params:
        number = len(list(folder.glob("*.params.yaml")))
        file = folder / f"{node}-{number}.params.yaml"
        file.write_text(
            yaml.safe_dump({"/**": {"ros__parameters": dict(params)}}), encoding="utf-8"
        )
        ros += ["--params-file", str(file)]
    return [
        sys.executable,
        "-m",
        f"robosim.ros.{node}",
        *arguments,
        *(["--ros-args", *ros] if ros else []),
    ]


def environment(
    domain: int, folder: Path, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Environment for a process in this domain.

    It is the environment of this process, with unbuffered logs, without colors, kept in `folder`.
    """
    return os.environ | {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(folder / "ros-log"),
        "RCUTILS_COLORIZED_OUTPUT": "0",
        "RCUTILS_LOGGING_BUFFERED_STREAM": "0",
        "PYTHONUNBUFFERED": "1",
        **(extra or {}),
    }
