"""`python -m robosim.ros.streamer`."""

from robosim.ros.streamer import main

raise SystemExit(main())
