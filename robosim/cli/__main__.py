"""`python -m robosim.cli` is the `robosim` command."""

import sys

from robosim.cli.app import main

sys.exit(main())
