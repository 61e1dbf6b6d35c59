// No algorithm allocates memory after its first call. Allocations are counted by replacing the
// global operator new.
#include <doctest/doctest.h>

#include "dynamics/centroidal.h"
#include "dynamics/coriolis.h"
#include "dynamics/crba.h"
#include "dynamics/energy.h"
#include "dynamics/energy_derivatives.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/kinematics_derivatives.h"
#include "count_allocations.h"
#include "random_models.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("kinematics and dynamics allocate nothing after the first call") {
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    const Model& model = c.model;
    Random random(1);
    Data<double> data(model);
    const Numbers q = random.configuration(model), v = random.numbers(model.n_v),
                  a = random.numbers(model.n_v);
    const std::size_t n = static_cast<std::size_t>(model.n_v);
    Numbers tau(n), M(n * n), J(6 * n), next(q.size()), dA_dq(6 * n), dA_dv(6 * n), dh_dq(6 * n),
        h(6), hdot(6);
    const std::vector<AppliedWrench<double>> wrenches{
        {static_cast<int>(model.frames.size()) - 1, {random.vec3(), random.vec3()}}};
    double energy = 0;
    CHECK(allocations_when_repeated([&] {
            forward_kinematics(model, data, q.data());
            motion_subspaces(model, data);
            forward_velocities(model, data, v.data());
            forward_accelerations(model, data, v.data(), a.data());
            frame_jacobian(model, data, model.frames.back(), Axes::local, J.data());
            frame_jacobian_dot(model, data, model.frames.back(), Axes::local, J.data());
            frame_acceleration_derivatives(model, data, model.frames.back(), Axes::world, J.data(),
                                           dA_dq.data(), dA_dv.data(), dh_dq.data());
            mass_moments(model, data);
            center_of_mass_jacobian(model, data, J.data());
            centroidal_momentum_rate(model, data, q.data(), v.data(), a.data(), h.data(),
                                     hdot.data());
            centroidal_momentum_matrix_dot(model, data, q.data(), v.data(), J.data(), dA_dq.data());
            centroidal_momentum_derivatives(model, data, q.data(), v.data(), a.data(), dh_dq.data(),
                                            dA_dq.data(), dA_dv.data(), J.data());
            coriolis_matrix(model, data, q.data(), v.data(), M.data());
            kinetic_energy_derivatives(model, data, q.data(), v.data(), tau.data(), next.data());
            gravity_forces_derivatives(model, data, q.data(), M.data());
            energy = kinetic_energy(model, data, v.data()) + potential_energy(model, data);
            rnea(model, data, q.data(), v.data(), a.data(), tau.data(), wrenches);
            nonlinear_effects(model, data, q.data(), v.data(), tau.data());
            gravity_forces(model, data, q.data(), tau.data());
            crba(model, data, q.data(), M.data());
            forward_dynamics(model, data, q.data(), v.data(), a.data(), tau.data(), wrenches);
            integrate(model, q.data(), v.data(), next.data());
            difference(model, q.data(), next.data(), tau.data());
          }) == 0);
    CHECK(energy == energy);
  }
}
