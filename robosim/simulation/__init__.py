"""Time steps of robots and free objects with hard contact: `Simulation`, and what goes in and comes out."""

from robosim.simulation.balance import Energy, StepBalance
from robosim.simulation.closure import Closure, JointEquality, PointClosure, Weld
from robosim.simulation.details import (
    ClosureForce,
    ContactForce,
    JointForce,
    StepDetails,
    StepIsland,
    StepReport,
    StepRow,
)
from robosim.simulation.gradients import (
    MeshRows,
    RunJacobians,
    StepCurvature,
    StepGradient,
    StepJacobians,
    StepTangent,
)
from robosim.simulation.material import Material, Motor
from robosim.simulation.parameters import ParameterGradient, ParameterKind, Parameters, ParameterValues
from robosim.simulation.replay import Replay
from robosim.simulation.simulation import Simulation
from robosim.simulation.state import Control, Motion, State

__all__ = [
    "Closure",
    "ClosureForce",
    "ContactForce",
    "Control",
    "Energy",
    "JointEquality",
    "JointForce",
    "Material",
    "MeshRows",
    "Motion",
    "Motor",
    "ParameterGradient",
    "ParameterKind",
    "ParameterValues",
    "Parameters",
    "PointClosure",
    "Replay",
    "RunJacobians",
    "Simulation",
    "State",
    "StepBalance",
    "StepCurvature",
    "StepDetails",
    "StepGradient",
    "StepIsland",
    "StepJacobians",
    "StepReport",
    "StepRow",
    "StepTangent",
    "Weld",
]
