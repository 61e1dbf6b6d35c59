"""Seeded generators of the seven bundled scene families."""

from robosim.scene.families.generator import families, generate

__all__ = ["families", "generate"]
