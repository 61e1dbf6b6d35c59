"""`python -m robosim.ros.planner`."""

import sys

from robosim.ros.planner import main

sys.exit(main())
