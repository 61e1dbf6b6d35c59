"""Methods that `Model` and `Data` share."""

from robosim.model.derivatives import Derivatives
from robosim.model.dynamics import Dynamics
from robosim.model.kinematics import Kinematics
from robosim.model.momentum import Momentum
from robosim.model.parameters import ParameterMethods
from robosim.model.products import Products

__all__ = ["Methods"]


class Methods(Kinematics, Momentum, Dynamics, Derivatives, Products, ParameterMethods):
    """Methods about configurations, kinematics, dynamics and derivatives."""
