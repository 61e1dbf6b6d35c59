"""Robot models: `ModelBuilder` builds one in code, `Model` is the compiled mechanism."""

from robosim.model.builder import ModelBuilder
from robosim.model.data import Data
from robosim.model.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    KineticEnergyDerivatives,
)
from robosim.model.kinematics import FrameAccelerationDerivatives, FrameVelocityDerivatives
from robosim.model.mass_factor import MassFactor
from robosim.model.model import Model
from robosim.model.momentum import (
    CentroidalMomentumDerivatives,
    CentroidalMomentumMatrixRate,
    CentroidalMomentumRate,
)
from robosim.model.parameters import (
    ForwardDynamicsParameterDerivatives,
    ParameterDerivatives,
    ParameterGradients,
)
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
from robosim.model.products import (
    ForwardDynamicsChange,
    ForwardDynamicsCurvature,
    ForwardDynamicsGradients,
    InverseDynamicsCurvature,
    InverseDynamicsGradients,
)

__all__ = [
    "CentroidalMomentumDerivatives",
    "CentroidalMomentumMatrixRate",
    "CentroidalMomentumRate",
    "Collider",
    "Data",
    "DisabledCollision",
    "EndEffector",
    "ForwardDynamicsChange",
    "ForwardDynamicsCurvature",
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsGradients",
    "ForwardDynamicsParameterDerivatives",
    "FrameAccelerationDerivatives",
    "FrameVelocityDerivatives",
    "Group",
    "InverseDynamicsCurvature",
    "InverseDynamicsDerivatives",
    "InverseDynamicsGradients",
    "Joint",
    "JointKind",
    "KineticEnergyDerivatives",
    "Limits",
    "Link",
    "MassFactor",
    "Mimic",
    "Model",
    "ModelBuilder",
    "NamedState",
    "ParameterDerivatives",
    "ParameterGradients",
    "Safety",
    "Visual",
]
