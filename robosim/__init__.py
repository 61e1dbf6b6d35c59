"""robosim: robot motion planning in Python over a compiled C++ engine."""

__all__: list[str] = []
