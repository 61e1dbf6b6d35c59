"""Time steps of robots and free objects with hard contact: `Simulation`, and what goes in and comes out."""

from robosim.simulation.details import ContactForce, JointForce, StepDetails, StepReport
from robosim.simulation.gradients import StepGradient, StepJacobians
from robosim.simulation.material import Material, Motor
from robosim.simulation.simulation import Simulation
from robosim.simulation.state import Control, Motion, State

__all__ = [
    "ContactForce",
    "Control",
    "JointForce",
    "Material",
    "Motion",
    "Motor",
    "Simulation",
    "State",
    "StepDetails",
    "StepGradient",
    "StepJacobians",
    "StepReport",
]
