"""Starts wire_peer.py in a process of its own and reads its output, for tests of the wire."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

from .harness.waiting import LIMIT

SCRIPT = Path(__file__).with_name("wire_peer.py")

# Tests stay on this machine (ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST), by unicast as Fast DDS does.
LOCAL = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo'"
    " multicast='false'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General>"
    "<Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>40</MaxAutoParticipantIndex><Peers><Peer"
    " Address='127.0.0.1'/></Peers></Discovery>"
    # A reader that joins a stream of Fast DDS learns up to 3 s late where the stream begins, and
    # must buffer that much.
    "<Internal><PrimaryReorderMaxSamples>5000</PrimaryReorderMaxSamples>"
    "<SecondaryReorderMaxSamples>5000</SecondaryReorderMaxSamples></Internal>"
    "</Domain></CycloneDDS>"
)


class Peer:
    """Talker, listener or arm that shares no code with robosim; killed at the end of the block."""

    def __init__(self, task: str, domain: int, **options: object) -> None:
        arguments = [task]
        for name, value in options.items():
            option = "--" + name.replace("_", "-")
            if value is True:
                arguments.append(option)
            elif isinstance(value, (list, tuple)):
                arguments += [option, *map(str, value)]
            else:
                arguments += [f"{option}={value}"]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "CYCLONEDDS_URI": LOCAL}
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=lambda: self._errors.extend(self.process.stderr), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def next(self, key: str, timeout: float = LIMIT):
        """Value of the next line that has this key."""
        end = time.monotonic() + timeout
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(
                    f"the peer said no {key!r} within {timeout} s: {self._errors}"
                ) from None
            assert line is not None, (
                f"the peer ended with {self.process.wait()}: {''.join(self._errors)}"
            )
            said = json.loads(line)
            if key in said:
                return said[key]

    def go(self) -> None:
        """Let a peer that is `held` begin, once it has discovered the listener."""
        self.next("matched")
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def heard(self, count: int) -> list[dict]:
        """Next `count` messages that a listener has received."""
        return [self.next("heard") for _ in range(count)]

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
