"""`python -m robosim.ros.recorder`."""

from robosim.ros.recorder import main

raise SystemExit(main())
