"""Seeded generators of the seven bundled scene families."""

from robosim.scene.families.generator import FAMILIES, generate

__all__ = ["FAMILIES", "generate"]
