"""The `robosim` command. See `robosim --help`; also runs as `python -m robosim.cli`."""

from robosim.cli.app import main

__all__ = ["main"]
