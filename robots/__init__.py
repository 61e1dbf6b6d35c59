"""Robot descriptions that ship with robosim: data only, one folder each, found by
`robosim.load_robot` by name."""
