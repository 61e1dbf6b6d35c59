// Jacobians of points, their rate, and derivatives of frames' velocities and accelerations, on
// every joint type, against dual numbers through the kernels of the values. The tolerance is 1e-12
// relative to the largest entry, as in test_dynamics.cpp.
#include "checks.h"
#include "dynamics/kinematics_derivatives.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

template <class S>
void update(const Model& model, Data<S>& data, const std::vector<S>& q, const std::vector<S>& v,
            const std::vector<S>& a) {
  forward_kinematics(model, data, q.data());
  motion_subspaces(model, data);
  forward_accelerations(model, data, v.data(), a.data());
}

template <class S>
std::vector<S> public_order(const Motion<S>& V) {
  return {V.linear.x, V.linear.y, V.linear.z, V.angular.x, V.angular.y, V.angular.z};
}

// Call f for the frame's origin, and for a point away from it.
template <class F>
void over_points(const Model& model, Random& random, F&& f) {
  for (const Frame& frame : model.frames)
    for (const Vec3d& point : {Vec3d(), random.vec3(0.5)})
      for (const Axes axes : {Axes::world, Axes::local}) f(frame, point, axes);
}

}  // namespace

TEST_CASE("a point moves as the frame that has its origin there") {
  over_battery(
      [](const Model& model, Random& random, const Numbers& q, const Numbers& v, const Numbers& a) {
        Data<double> data(model);
        update(model, data, q, v, a);
        const Data<double>& kept = data;
        Numbers J(6 * v.size()), moved_J(J.size()), J_dot(J.size()), moved_J_dot(J.size());
        over_points(model, random, [&](const Frame& frame, const Vec3d& point, Axes axes) {
          Frame moved = frame;
          moved.X_BF.p = frame.X_BF * point;
          frame_jacobian(model, kept, frame, axes, J.data(), point);
          frame_jacobian(model, kept, moved, axes, moved_J.data());
          check_close(J, moved_J);
          frame_jacobian_dot(model, kept, frame, axes, J_dot.data(), point);
          frame_jacobian_dot(model, kept, moved, axes, moved_J_dot.data());
          check_close(J_dot, moved_J_dot);
          check_close(public_order(frame_velocity(model, kept, frame, axes, point)),
                      public_order(frame_velocity(model, kept, moved, axes)));
          check_close(public_order(frame_acceleration(model, kept, frame, axes, point)),
                      public_order(frame_acceleration(model, kept, moved, axes)));
        });
      });
}

TEST_CASE("the rate of a Jacobian is its derivative along v, and gives the acceleration at a = 0") {
  over_battery(
      [](const Model& model, Random& random, const Numbers& q, const Numbers& v, const Numbers&) {
        Data<double> data(model);
        Data<Dual> dual(model);
        update(model, data, q, v, Numbers(v.size()));
        forward_kinematics(model, dual, moving(model, q, v).data());
        motion_subspaces(model, dual);
        Numbers J_dot(6 * v.size());
        Duals J(J_dot.size());
        over_points(model, random, [&](const Frame& frame, const Vec3d& point, Axes axes) {
          frame_jacobian_dot(model, data, frame, axes, J_dot.data(), point);
          frame_jacobian(model, dual, frame, axes, J.data(), Vec3<Dual>(point));
          check_close(J_dot, rates(J));
          Motion<double> bias = frame_acceleration(model, data, frame, axes, point);
          const Motion<double> V = frame_velocity(model, data, frame, axes, point);
          if (axes == Axes::local) bias.linear -= cross(V.angular, V.linear);
          check_close(times(J_dot, v), public_order(bias));
        });
      });
}

TEST_CASE(
    "derivatives of a frame's velocity and acceleration are those of dual numbers through the same "
    "kernels") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    Data<double> data(model);
    Data<Dual> dual(model);
    update(model, data, q, v, a);
    const std::size_t size = 6 * v.size();
    Numbers J(size), dV_dq(size), dA_dq(size), dA_dv(size), same_J(size), same_dV_dq(size);
    over_points(model, random, [&](const Frame& frame, const Vec3d& point, Axes axes) {
      const Derivatives d =
          differentiate(model, q, v, a, 12, [&](const Duals& q_, const Duals& v_, const Duals& a_) {
            update(model, dual, q_, v_, a_);
            Duals out = public_order(frame_velocity(model, dual, frame, axes, Vec3<Dual>(point)));
            const Duals A =
                public_order(frame_acceleration(model, dual, frame, axes, Vec3<Dual>(point)));
            out.insert(out.end(), A.begin(), A.end());
            return out;
          });
      const auto velocity = [&](const Numbers& x) {
        return Numbers(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(size));
      };
      const auto acceleration = [&](const Numbers& x) {
        return Numbers(x.begin() + static_cast<std::ptrdiff_t>(size), x.end());
      };
      frame_acceleration_derivatives(model, data, frame, axes, dV_dq.data(), dA_dq.data(),
                                     dA_dv.data(), J.data(), point);
      check_close(dV_dq, velocity(d.dq));
      check_close(J, velocity(d.dv));
      check_close(dA_dq, acceleration(d.dq));
      check_close(dA_dv, acceleration(d.dv));
      check_close(J, acceleration(d.da));
      frame_velocity_derivatives(model, data, frame, axes, same_dV_dq.data(), same_J.data(), point);
      CHECK(same_dV_dq == dV_dq);
      CHECK(same_J == J);
    });
  });
}
