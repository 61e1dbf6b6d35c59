"""Time steps of robots and free objects with hard contact: `Simulation`, its inputs and results."""

from robosim.simulation.balance import Energy, StepBalance
from robosim.simulation.details import (
    ClosureForce,
    ContactForce,
    JointForce,
    StepImpact,
    StepIsland,
    StepReport,
    StepRow,
    StepStatus,
)
from robosim.simulation.gradients import (
    Jacobians,
    MeshRows,
    OneSidedCause,
    StepCurvature,
    StepGradient,
    StepTangent,
)
from robosim.simulation.linearization import Linearization
from robosim.simulation.parameters import (
    ParameterGradient,
    ParameterKind,
    Parameters,
    ParameterValues,
)
from robosim.simulation.replay import Replay
from robosim.simulation.rollout import Rollout, RolloutReport
from robosim.simulation.simulation import Simulation
from robosim.simulation.state import Control, State

__all__ = [
    "ClosureForce",
    "ContactForce",
    "Control",
    "Energy",
    "Jacobians",
    "JointForce",
    "Linearization",
    "MeshRows",
    "OneSidedCause",
    "ParameterGradient",
    "ParameterKind",
    "ParameterValues",
    "Parameters",
    "Replay",
    "Rollout",
    "RolloutReport",
    "Simulation",
    "State",
    "StepBalance",
    "StepCurvature",
    "StepGradient",
    "StepImpact",
    "StepIsland",
    "StepReport",
    "StepRow",
    "StepStatus",
    "StepTangent",
]
