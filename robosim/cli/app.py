"""Entry of the `robosim` command: parses arguments, runs a subcommand, and returns an exit code.

    0    done
    2    invalid input: one line `robosim: error: ...` on stderr, no traceback unless --debug
    3    no plan; the arm refused or did not arrive
    130  interrupted (Ctrl-C)
    141  the reader of stdout closed the pipe

Slow imports are deferred until a subcommand runs, so that --help answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from robosim.cli import check, inspect, listing, plan, render, simulate, stream, view
from robosim.cli.options import in_flags
from robosim.cli.output import forgiving_streams, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_DONE, EXIT_BAD_INPUT, EXIT_NO_PLAN, EXIT_INTERRUPTED, EXIT_PIPE = 0, 2, 3, 130, 141

_COMMANDS = (plan, stream, simulate, inspect, view, render, check, listing)
# A list of numbers that begins with a minus sign, which argparse would take for an option.
_NUMBERS = re.compile(r"-[0-9.][-+0-9.eE]*(,[-+0-9.eE]+)*,?")


class _Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in the format of the command."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        from robosim.errors import suggestion

        if action.choices is not None and value not in action.choices:
            near = suggestion(value, map(str, action.choices), limit=None)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{near}")

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"robosim: error: {message}; see `{self.prog} --help`\n")


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Create the parser of the whole command, with one subparser per subcommand.

    `arguments` are those to be parsed. Options of the transports take time to load, so they are
    added only if the arguments name `stream`.
    """
    parser = _Parser(
        prog="robosim",
        description=(
            "Plan robot motions, have arms follow them, look at them, and look into robot"
            " descriptions."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument(
        "--debug", action="store_true", help="on an error, print the full traceback"
    )
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    for command in _COMMANDS:
        command.add_parsers(commands)
    if "stream" in arguments:
        stream.add_transports(commands.choices["stream"])
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments after the program's name; those of the process if None.

    Returns:
        The exit code, see the module docstring.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    forgiving_streams()
    try:
        try:
            return _run([a for a in arguments if a != "--debug"])
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout again at exit: redirect it to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except KeyboardInterrupt:
        print("robosim: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:
        from robosim.errors import RobosimError

        if debug:
            raise
        if isinstance(error, RobosimError | OSError):
            message = in_flags(" ".join(str(error).splitlines()))
            print(f"robosim: error: {printable(message)}", file=sys.stderr)
            return EXIT_BAD_INPUT
        raise


def _run(arguments: list[str]) -> int:
    parser = build_parser(arguments)
    try:
        # A leading space marks the text as a value for argparse; number parsers ignore it.
        args = parser.parse_args([f" {a}" if _NUMBERS.fullmatch(a) else a for a in arguments])
    except SystemExit as stop:  # --help or a usage error, already printed
        return int(stop.code or 0)
    if args.version:
        from robosim.cli.check import installed_version

        print(
            "robosim"
            f" {installed_version('robosim') or '(not installed: runs from its source tree)'}"
        )
        return EXIT_DONE
    if not hasattr(args, "run"):
        parser.print_help()
        return EXIT_DONE
    return int(args.run(args))
