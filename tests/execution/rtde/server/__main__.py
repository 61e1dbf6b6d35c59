"""A UR controller for tests over a simulated arm.

RTDE is on port 30004, the script port on 30003 and the dashboard on 29999.

    python server HOST [JSON]

JSON sets the start: series ("cb3", 125 Hz, or "e", 500 Hz), model, q, lag, remote_control,
program_running. After that, each line of stdin is a JSON command, answered by one JSON line on
stdout. `Controller.command` lists the commands. The process ends when its stdin closes.
"""

from __future__ import annotations

import asyncio
import json
import struct
import sys
import time
from collections import deque
from typing import Any

import packages
from program import ControlProgram
from robot import EMERGENCY, NORMAL, PAUSED, PLAYING, PROTECTIVE_STOP, Robot

VERSIONS = {"cb3": (3, 15, 8, 106339), "e": (5, 11, 1, 108318)}
SAFETY_TEXTS = {
    NORMAL: "NORMAL",
    2: "REDUCED",
    PROTECTIVE_STOP: "PROTECTIVE_STOP",
    EMERGENCY: "ROBOT_EMERGENCY_STOP",
}


class Session:
    """An RTDE client."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.outputs: list[tuple[int, tuple[str, ...], int]] = []  # recipe, names, every n cycles
        self.inputs: dict[int, list[str]] = {}
        self.started = False
        self.held: deque[bytes] = deque()  # packages with delayed states

    def send(self, kind: int, payload: bytes) -> None:
        self.writer.write(packages.frame(kind, payload))


class Controller:
    def __init__(
        self,
        host: str,
        series: str = "e",
        model: str = "UR5",
        q: list[float] | None = None,
        lag: float = 0.0,
        remote_control: bool = True,
        program_running: bool = False,
        safety_mode: int = NORMAL,
        robot_mode: int = 7,
    ) -> None:
        self.host, self.version, self.model = host, VERSIONS[series], model
        self.robot = Robot(
            500.0 if series == "e" else 125.0, list(q or [0.0, -1.57, 1.57, 0.0, 0.0, 0.0]), lag
        )
        self.robot.safety_mode, self.robot.robot_mode = safety_mode, robot_mode
        self.program = ControlProgram(self.robot)
        if program_running:
            self.robot.runtime_state = PLAYING
            self.program.outputs["output_int_register_0"] = 1
        self.remote_control = remote_control
        self.sessions: list[Session] = []
        self.writers: set[asyncio.StreamWriter] = set()
        self.silent = False
        self.freeze = False
        self.late = 0
        self.last: dict[int, bytes] = {}
        self.cycles = 0
        self.servers: list[asyncio.Server] = []

    # -- The control cycle -------------------------------------------------------------------------

    async def run(self) -> None:
        period = 1.0 / self.robot.rate
        due = time.monotonic()
        while True:
            due += period
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if time.monotonic() - due > 0.5:  # this machine stood still, as no controller does
                due = time.monotonic()
            self.program.step()
            self.robot.step()
            self.cycles += 1
            if not self.silent:
                for session in self.sessions:
                    self.publish(session)

    def publish(self, session: Session) -> None:
        if not session.started or session.writer.is_closing():
            return
        values: dict[str, Any] | None = None
        for recipe, names, every in session.outputs:
            if self.cycles % every:
                continue
            if not (self.freeze and id(names) in self.last):
                values = values or self.values()
                self.last[id(names)] = packages.pack(names, values)
            session.held.append(bytes([recipe]) + self.last[id(names)])
        while len(session.held) > (self.late if session.inputs else 0):
            session.send(packages.DATA, session.held.popleft())

    def values(self) -> dict[str, Any]:
        """Values of all outputs that are not zero."""
        robot = self.robot
        safety_bit = {NORMAL: 0, 2: 1, PROTECTIVE_STOP: 2, EMERGENCY: 7}[robot.safety_mode]
        return {
            **self.program.outputs,
            "timestamp": robot.time,
            "target_q": robot.servo_target or robot.q,
            "target_qd": robot.qd,
            "actual_q": robot.q,
            "actual_qd": robot.qd,
            "joint_mode": [253] * 6,
            "robot_mode": robot.robot_mode,
            "safety_mode": robot.safety_mode,
            "runtime_state": robot.runtime_state,
            "speed_scaling": robot.speed_scaling,
            "target_speed_fraction": robot.target_speed_fraction,
            # Power is on and a program runs.
            "robot_status_bits": 1 | (2 if self.program.running else 0),
            "safety_status_bits": (
                1 << safety_bit | (1 << 10 if robot.safety_mode == EMERGENCY else 0)
            ),
        }

    # -- The three ports ---------------------------------------------------------------------------

    async def listen(self) -> None:
        for port, serve in (
            (30004, self.serve_rtde),
            (30003, self.serve_script),
            (29999, self.serve_dashboard),
        ):
            self.servers.append(await asyncio.start_server(self.guarded(serve), self.host, port))

    def guarded(self, serve: Any) -> Any:
        async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.writers.add(writer)
            try:
                await serve(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                self.writers.discard(writer)
                self.sessions = [s for s in self.sessions if s.writer is not writer]
                writer.close()

        return connection

    async def serve_rtde(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = Session(writer)
        self.sessions.append(session)
        while True:
            kind, payload = await packages.read(reader)
            if kind == packages.REQUEST_PROTOCOL_VERSION:
                session.send(kind, bytes([struct.unpack(">H", payload)[0] in (1, 2)]))
            elif kind == packages.GET_CONTROLLER_VERSION:
                session.send(kind, struct.pack(">4I", *self.version))
            elif kind == packages.SETUP_OUTPUTS:
                self.setup_outputs(session, payload)
            elif kind == packages.SETUP_INPUTS:
                self.setup_inputs(session, payload)
            elif kind in (packages.START, packages.PAUSE):
                session.started = kind == packages.START
                session.send(kind, b"\x01")
            elif kind == packages.DATA:
                names = session.inputs[payload[0]]
                values = packages.unpack(
                    [packages.INPUT_TYPES[name] for name in names], payload[1:]
                )
                self.program.write(dict(zip(names, values, strict=True)))
            else:
                writer.write(packages.text_message(f"unknown package {kind}"))

    def setup_outputs(self, session: Session, payload: bytes) -> None:
        (frequency,) = struct.unpack(">d", payload[:8])
        names = packages.names_of(payload[8:])
        types = [packages.OUTPUT_TYPES.get(name, "NOT_FOUND") for name in names]
        recipe = len(session.outputs) + 1
        if "NOT_FOUND" in types or not 1 <= frequency <= self.robot.rate:
            recipe = 0
            session.writer.write(packages.text_message("output recipe refused"))
        else:
            session.outputs.append((recipe, tuple(names), round(self.robot.rate / frequency)))
        session.send(packages.SETUP_OUTPUTS, bytes([recipe]) + ",".join(types).encode())

    def setup_inputs(self, session: Session, payload: bytes) -> None:
        names = packages.names_of(payload)
        taken = {
            name
            for other in self.sessions
            if other is not session
            for r in other.inputs.values()
            for name in r
        }
        types = [
            "IN_USE" if n in taken else packages.INPUT_TYPES.get(n, "NOT_FOUND") for n in names
        ]
        recipe = 0 if {"IN_USE", "NOT_FOUND"} & set(types) else len(session.inputs) + 1
        if recipe:
            session.inputs[recipe] = names
        session.send(packages.SETUP_INPUTS, bytes([recipe]) + ",".join(types).encode())

    async def serve_script(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        lines: list[bytes] = []
        while line := await reader.readline():
            lines.append(line)
            if line.rstrip() == b"end" and not line[:1].isspace():
                text = b"".join(lines).decode()
                lines.clear()
                if self.robot.safety_mode == NORMAL and self.remote_control:
                    self.program.upload(text)
                else:
                    self.robot.events.append("program refused")

    async def serve_dashboard(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"Connected: Universal Robots Dashboard Server\n")
        while line := await reader.readline():
            writer.write(self.dashboard(line.decode().strip()).encode() + b"\n")

    def dashboard(self, request: str) -> str:
        if request == "stop":
            self.program.end("the dashboard stopped it")
            return "Stopped"
        if request == "quit":
            return "Disconnected"
        version = "URSoftware " + ".".join(map(str, self.version)) + " (Jul 02 2021)"
        answers = {
            "PolyscopeVersion": version,
            "get robot model": self.model,
            "get serial number": "20205512345",
            "is in remote control": str(self.remote_control).lower(),
            "robotmode": "Robotmode: RUNNING",
            "safetymode": f"Safetymode: {SAFETY_TEXTS[self.robot.safety_mode]}",
            "safetystatus": f"Safetystatus: {SAFETY_TEXTS[self.robot.safety_mode]}",
            "running": f"Program running: {str(self.robot.runtime_state == PLAYING).lower()}",
        }
        return answers.get(request, f"could not understand: '{request}'")

    # -- Commands of tests -------------------------------------------------------------------------

    def command(self, name: str, value: Any) -> Any:
        robot = self.robot
        if name == "state":
            return {
                "q": robot.q, "qd": robot.qd, "time": robot.time,
                "runtime_state": robot.runtime_state,
                "safety_mode": robot.safety_mode, "events": robot.events,
                "servoing": robot.servo_target is not None,
                "clients": len(self.writers), "set_points": len(robot.servo_log),
                "watchdog": self.program.watchdog,
            }  # fmt: skip
        if name == "logs":
            return {"servo": robot.servo_log, "motion": robot.motion_log}
        if name == "set":
            for key, new in value.items():
                if key not in {"speed_scaling", "target_speed_fraction", "safety_mode", "q", "lag"}:
                    raise ValueError(f"cannot set {key}")
                setattr(robot, key, new)
        elif name == "protective_stop":
            robot.protective_stop("asked for")
        elif name == "emergency_stop":
            robot.protective_stop("emergency")
            robot.safety_mode = EMERGENCY
            self.program.end("emergency stop")
        elif name == "unlock":  # and resume, as an operator might
            robot.safety_mode = NORMAL
            if robot.runtime_state == PAUSED:
                robot.runtime_state = PLAYING
        elif name == "pause":
            robot.runtime_state = PAUSED
        elif name == "resume":
            if robot.runtime_state == PAUSED:
                robot.runtime_state = PLAYING
        elif name == "stop_program":
            self.program.end("asked for")
        elif name == "freeze":  # packages continue with constant content
            self.freeze = bool(value)
        elif name == "silent":  # no more packages
            self.silent = bool(value)
        # Number of packages, one per cycle, by which states are delayed for clients that write
        # registers.
        elif name == "late":
            self.late = int(value)
        elif name == "drop":  # "all": every connection; "commands": those that write registers
            writers = (
                {s.writer for s in self.sessions if s.inputs}
                if value == "commands"
                else set(self.writers)
            )
            for writer in writers:
                writer.transport.abort()
        elif name == "refuse":  # no new connections
            for server in self.servers:
                server.close()
        else:
            raise ValueError(f"unknown command {name}")
        return None

    async def commands(self) -> None:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            name, value = json.loads(line)
            print(json.dumps(self.command(name, value)), flush=True)


async def main() -> None:
    controller = Controller(sys.argv[1], **json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
    await controller.listen()
    print(json.dumps("ready"), flush=True)
    cycle = asyncio.ensure_future(controller.run())
    commands = asyncio.ensure_future(controller.commands())
    done, _ = await asyncio.wait({cycle, commands}, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


if __name__ == "__main__":
    asyncio.run(main())
