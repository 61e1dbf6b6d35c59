"""Time steps of robots and free objects with hard contact: `Simulation`, and what goes in and comes out."""

from robosim.simulation.details import ContactForce, JointForce, StepDetails, StepReport
from robosim.simulation.gradients import (
    ModelGradient,
    ObjectGradients,
    StepGradient,
    StepJacobians,
)
from robosim.simulation.material import Material, Motor
from robosim.simulation.replay import Replay
from robosim.simulation.simulation import Simulation
from robosim.simulation.state import Control, Motion, State

__all__ = [
    "ContactForce",
    "Control",
    "JointForce",
    "Material",
    "ModelGradient",
    "Motion",
    "Motor",
    "ObjectGradients",
    "Replay",
    "Simulation",
    "State",
    "StepDetails",
    "StepGradient",
    "StepJacobians",
    "StepReport",
]
