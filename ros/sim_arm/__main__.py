"""`python -m robosim.ros.sim_arm`."""

from robosim.ros.sim_arm import main

raise SystemExit(main())
