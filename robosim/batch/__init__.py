"""Many states of one model at once, for planners, rollouts and trajectory optimisation.

The functions have the names of `Model`'s methods and take the model first. Arrays have one more axis in front, of the n
states: q is (n, n_q), v (n, n_v), and a result that is (n_v, n_v) there is (n, n_v, n_v) here. An argument without that
axis is shared by all states; at least one must have it. `external` maps links to wrenches (6,) or (n, 6).

States run side by side in the lanes of the processor's registers, on several threads (`set_threads`, or `threads` of a
call). Each state's result has the same bits as that of the model's method, whatever its place in the batch, its
neighbours and the number of threads. Contiguous float64 arrays are read and written in place, the interpreter lock is
not held meanwhile; calls on one model from several threads take turns. Everything works after fork().

All raise `robosim.errors.ModelError` for an argument of a wrong shape or that is not real and finite, an unknown link,
`out` that is not C-contiguous float64 of the result's shape, `threads` below 1, and where a mass matrix is singular,
with the state's number.
"""

from robosim.batch.calls import (
    get_threads,
    set_threads,
)
from robosim.batch.derivatives import (
    forward_dynamics_derivatives,
    gravity_derivatives,
    inverse_dynamics_derivatives,
    kinetic_energy_derivatives,
)
from robosim.batch.dynamics import (
    coriolis_matrix,
    forward_dynamics,
    gravity,
    inverse_dynamics,
    joint_force_derivatives,
    joint_forces,
    kinetic_energy,
    mass_matrix,
    mass_matrix_inverse,
    nonlinear_effects,
    potential_energy,
)
from robosim.batch.kinematics import (
    difference,
    frame_acceleration,
    frame_acceleration_derivatives,
    frame_pose,
    frame_velocity,
    frame_velocity_derivatives,
    integrate,
    jacobian,
    jacobian_rate,
    link_poses,
    random_configuration,
)
from robosim.batch.mass_factor import (
    MassFactors,
    mass_factor,
)
from robosim.batch.momentum import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    centroidal_momentum,
    centroidal_momentum_derivatives,
    centroidal_momentum_matrix,
    centroidal_momentum_matrix_rate,
    centroidal_momentum_rate,
)
from robosim.batch.parameters import (
    forward_dynamics_parameter_derivatives,
    forward_dynamics_parameter_vjp,
    inertial_regressor,
    inverse_dynamics_parameter_derivatives,
    inverse_dynamics_parameter_vjp,
    regressor_times,
    regressor_transpose_times,
)
from robosim.batch.products import (
    forward_dynamics_hvp,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_hvp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)

__all__ = [
    "MassFactors",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "centroidal_momentum",
    "centroidal_momentum_derivatives",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
    "coriolis_matrix",
    "difference",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hvp",
    "forward_dynamics_jvp",
    "forward_dynamics_parameter_derivatives",
    "forward_dynamics_parameter_vjp",
    "forward_dynamics_vjp",
    "frame_acceleration",
    "frame_acceleration_derivatives",
    "frame_pose",
    "frame_velocity",
    "frame_velocity_derivatives",
    "get_threads",
    "gravity",
    "gravity_derivatives",
    "inertial_regressor",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_hvp",
    "inverse_dynamics_jvp",
    "inverse_dynamics_parameter_derivatives",
    "inverse_dynamics_parameter_vjp",
    "inverse_dynamics_vjp",
    "jacobian",
    "jacobian_rate",
    "joint_force_derivatives",
    "joint_forces",
    "kinetic_energy",
    "kinetic_energy_derivatives",
    "link_poses",
    "mass_factor",
    "mass_matrix",
    "mass_matrix_inverse",
    "nonlinear_effects",
    "potential_energy",
    "random_configuration",
    "regressor_times",
    "regressor_transpose_times",
    "set_threads",
]
