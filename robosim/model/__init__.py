"""Robot models: `ModelBuilder` makes one in code, `Model` is the compiled mechanism."""

from robosim.model.builder import ModelBuilder
from robosim.model.model import Model
from robosim.model.parts import (
    Collider,
    DisabledCollision,
    EndEffector,
    Group,
    Joint,
    JointKind,
    Limits,
    Link,
    Mimic,
    NamedState,
    Safety,
    Visual,
)

__all__ = [
    "Collider",
    "DisabledCollision",
    "EndEffector",
    "Group",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "ModelBuilder",
    "NamedState",
    "Safety",
    "Visual",
]
