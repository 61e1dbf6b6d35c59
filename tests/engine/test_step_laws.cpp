// Laws that a step must satisfy, checked by independent means: the equation of motion by recursive
// Newton-Euler with the contacts' forces applied to links, and the law of every row from the
// velocities of bodies.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "checks.h"
#include "dynamics/rnea.h"
#include "step/constraints/constraint_kinds.h"
#include "step/contact_axes.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A robot with all kinds of joints, with or without a floating base, two boxes and a ball, all near
// the floor and each other.
Model crowd(Random& random, bool floating_base) {
  ModelBuilder builder = random_tree("crowd", random, moving_kinds(), 6, false, floating_base);
  for (int i = 0; i <= 6; ++i)
    builder.add_collider(message("l", i),
                         i % 2 ? Shape::capsule(0.1, 0.2) : Shape::box({0.1, 0.15, 0.1}),
                         random.pose(), "c");
  if (!floating_base)
    for (int i = 0; i < 3; ++i) {
      const FreeBody body =
          i < 2 ? free_box(random.uniform(0.5, 2), {0.2, 0.15, 0.1}) : free_ball(1, 0.2);
      const std::string name = message("free", i);
      builder.add_link(name, body.inertia);
      JointSpec joint;
      joint.name = message(name, "_joint");
      joint.kind = "floating";
      joint.parent = "l0";
      joint.child = name;
      builder.add_joint(joint);
      builder.add_collider(name, body.shape, SE3d(), "c");
    }
  return builder.build({});
}

// State and control of a step.
struct Drive {
  Numbers q, v, tau, q_target, v_target;
  ControlView control() const { return {tau.data(), q_target.data(), v_target.data()}; }
};

Drive random_drive(const Model& m, Random& random) {
  Drive c{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5),
          random.configuration(m), random.numbers(m.n_v)};
  for (int i = 1; i < m.n_bodies(); ++i)
    if (const Joint& joint = m.joints[i]; joint.type == JointType::floating)
      c.q[joint.q_index + 2] = random.uniform(0, 0.3);
  return c;
}

int frame_of(const Model& m, int body) {
  for (std::size_t i = 0; i < m.frames.size(); ++i)
    if (m.frames[i].body == body) return static_cast<int>(i);
  return -1;
}

// Check the law of a row with its impulse and velocity, with a tolerance for each.
void check_law(double f, double w, double lower, double upper, double f_small, double w_small) {
  CHECK(f >= lower - f_small);
  CHECK(f <= upper + f_small);
  if (f > lower + f_small) CHECK(w <= w_small);
  if (f < upper - f_small) CHECK(w >= -w_small);
}

// Check the law of friction within a disc around zero.
void check_disc_law(const double* f, const double* w, double radius, double f_small,
                    double w_small) {
  const double push = std::hypot(f[0], f[1]), speed = std::hypot(w[0], w[1]);
  CHECK(push <= radius + f_small);
  if (push < radius - f_small) CHECK(speed <= w_small);
  // Opposite to the velocity.
  CHECK(f[0] * w[0] + f[1] * w[1] <= -push * speed + f_small * speed + w_small * push);
}

}  // namespace

TEST_CASE("steps of random worlds obey the equation of motion and the law of every row") {
  SolverId solver;
  // Friction bounds of `convex` match the normals to 1e-8.
  double solved_to = 1e-12, slack = 1e-9;
  SUBCASE("friction within squares") { solver = SolverId("lcp"); }
  SUBCASE("friction within discs") {
    solver = SolverId("convex");
    solved_to = 1e-8;
    slack = 3e-8;
  }
  int relaxed = 0, rough = 0, contacts = 0, limits = 0, corrections = 0, motors = 0, solved = 0,
      steps = 0, islands = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    Random random(seed);
    Model model = crowd(random, seed % 2 == 0);
    std::vector<Motor> drives(at(model.n_v));
    for (int i = 1; i < model.n_bodies(); ++i) {
      const Joint& joint = model.joints[i];
      if (joint.n_q != 1) continue;
      Motor& motor = drives[joint.v_index];
      if (i % 2)
        motor = {random.uniform(0, 50), random.uniform(0.1, 5),
                 i % 4 == 1 ? random.uniform(0.1, 3) : motor.limit};
      model.limits.q_lower[joint.q_index] = -1;
      model.limits.q_upper[joint.q_index] = 1;
    }
    const bool gives = seed % 3 == 1;
    const PairMaterial material{random.uniform(0, 1),  seed % 3 ? 0.0 : 0.5, seed % 4 ? 0.0 : 0.02,
                                seed % 5 ? 0.0 : 0.01, gives ? 1e-3 : 0.0,   gives ? 0.02 : 0.0};
    const StepWorld w(std::move(model), material, true, drives);
    const Model& m = w.model;
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.02;
    options.limit_margin = 0.05;
    options.solver = solver;
    options.bounce = BounceId("step");
    Stepper stepper(*w.world, options);
    for (int trial = 0; trial < 10; ++trial) {
      const Drive c = random_drive(m, random);
      Numbers q_next(c.q.size()), v_next(c.v.size());
      const StepReport report =
          stepper.step({c.q.data(), c.v.data()}, c.control(), {q_next.data(), v_next.data()});
      ++steps;
      islands += report.islands;
      contacts += report.contacts;
      if (report.status == StepStatus::inconsistent) continue;
      relaxed += report.status == StepStatus::relaxed;
      ++solved;
      const StepIsland* const all = stepper.islands();
      const auto is_relaxed = [](const StepIsland& x) { return x.is_relaxed; };
      const std::vector<StepIsland>& corrected_islands = stepper.data().corrections;
      CHECK((report.status == StepStatus::relaxed) ==
            (std::any_of(all, all + report.islands, is_relaxed) ||
             std::any_of(corrected_islands.begin(),
                         corrected_islands.begin() +
                             static_cast<std::ptrdiff_t>(stepper.data().corrected_islands.size()),
                         is_relaxed)));
      if (report.status < StepStatus::rough) CHECK(report.residual <= solved_to);
      if (report.residual > solved_to) {  // some island is rough
        ++rough;
        continue;
      }

      // Computing derivatives fills the matrices that are checked below.
      StepGradient gradient;
      const Numbers bar(c.v.size(), 1.0);
      stepper.vjp({c.q.data(), c.v.data()}, c.control(), {bar.data(), bar.data()}, gradient);

      // New velocities in the axes at the start. Positions move along these and their corrections;
      // floating joints move straight.
      const StepData& step = stepper.data();
      Numbers v_start = v_next, q_expected(c.q.size()), corrected(c.v.size(), 0.0);
      if (step.has_corrections())
        for (std::size_t k = 0; k < corrected.size(); ++k)
          corrected[k] = step.u_corrected[k] - step.u[k];
      for (int i = 1; i < m.n_bodies(); ++i) {
        const Joint& joint = m.joints[i];
        double *const x = &v_start[joint.v_index], *const to = &q_expected[joint.q_index],
                      *const more = &corrected[joint.v_index];
        const double *const from = &c.q[joint.q_index], *const reached = &q_next[joint.q_index];
        if (joint.mimic) continue;
        if (joint.type == JointType::floating) {
          const Mat3d R = quaternion_rotation<double>(from + 3),
                      R_next = quaternion_rotation<double>(reached + 3);
          const Vec3d moving = transpose(R) * (R_next * Vec3d(x[0], x[1], x[2])),
                      way{x[3] + more[3], x[4] + more[4], x[5] + more[5]};
          for (int k = 0; k < 3; ++k) x[k] = moving[k];
          for (int k = 0; k < 3; ++k)
            to[k] = from[k] + options.dt * (R * (moving + Vec3d(more[0], more[1], more[2])))[k];
          const Mat3d turned = R * exp_motion(Motion<double>{options.dt * way, {}}).R;
          for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s) CHECK(std::abs(R_next(r, s) - turned(r, s)) < 1e-13);
          for (int k = 3; k < 7; ++k) to[k] = reached[k];
        } else if (joint.type == JointType::planar) {
          const double turn = options.dt * (x[2] + more[2]), vx = x[0], vy = x[1];
          x[0] = std::cos(turn) * vx - std::sin(turn) * vy;
          x[1] = std::sin(turn) * vx + std::cos(turn) * vy;
          const double wx = x[0] + more[0], wy = x[1] + more[1];
          to[0] = from[0] + options.dt * (std::cos(from[2]) * wx - std::sin(from[2]) * wy);
          to[1] = from[1] + options.dt * (std::sin(from[2]) * wx + std::cos(from[2]) * wy);
          to[2] = from[2] + turn;
        } else {
          to[0] = from[0] + options.dt * (x[0] + more[0]);
        }
      }
      check_close(q_next, q_expected, 1e-13);

      // Velocities of bodies, before and after.
      Data<double> before(m), after(m);
      position_stage(m, before, c.q.data());
      forward_velocities(m, before, c.v.data());
      position_stage(m, after, c.q.data());
      forward_velocities(m, after, v_start.data());

      // Forces on links and joints, and the laws.
      std::map<int, Force<double>> on_body;
      Numbers joint_impulse(at(m.n_v), 0.0);
      for (int i = 0; i < report.islands; ++i) {
        const StepIsland& island = stepper.islands()[i];
        double f_scale = 1e-3;
        const double w_slack = slack * std::max(1.0, row_scale(island.problem, island.solution));
        const auto asked = [&](double target) {
          return island.is_relaxed ? std::min(target, 0.0) : target;
        };
        for (const double f : island.solution.f) f_scale = std::max(f_scale, std::abs(f));
        for (std::size_t b = 0; b < island.blocks.size(); ++b) {
          const StepIsland::Block& block = island.blocks[b];
          double normal_impulse = 0, first_w = 0;
          for (int r = island.problem.blocks[b].first_row; r < island.problem.blocks[b].last_row;
               ++r) {
            const double f = island.solution.f[r];
            const StepIsland::Row& own = island.rows[r];
            const std::uint8_t role = own.role;
            if (!is_of<Contact>(block)) {
              const double v1 = v_start[block.v], q0 = block.q >= 0 ? c.q[block.q] : 0;
              const double erp = options.erp / options.dt, dt = options.dt;
              const bool is_limit = is_of<JointLimit>(own),
                         is_lower = is_limit && role == JointLimit::lower;
              const double sign = is_limit && !is_lower ? -1 : 1;
              joint_impulse[block.v] += sign * f;
              const double gap = is_lower ? q0 + 1 : 1 - q0;
              if (is_limit) {
                ++limits;
                check_law(f, sign * v1 - asked(-erp * std::max(gap - 1e-5, 0.0)), 0, INFINITY,
                          slack * f_scale, w_slack);
              }
              if (is_of<DryFriction>(own))
                check_law(f, v1, -m.friction[block.v] * dt, m.friction[block.v] * dt,
                          slack * f_scale, w_slack);
              if (is_of<JointMotor>(own)) {
                ++motors;
                const Motor& motor = w.world->motor(block.v);
                const double wanted = motor.position_gain * (c.q_target[block.q] - q0 - dt * v1) +
                                      motor.velocity_gain * (c.v_target[block.v] - v1);
                check_close(f, dt * std::clamp(wanted, -motor.limit, motor.limit), f_scale,
                            w_slack);
              }
              continue;
            }
            const SceneQuery::PairManifold& pair = stepper.manifolds()[island.rows[r].manifold];
            const ManifoldPoint& point = pair.manifold.points[island.rows[r].point];
            const Vec3d n = pair.manifold.normal(), p = point.p_W - after.X_WB[1].p;
            const ContactAxes axes = contact_axes(n);
            const double* const on = island.rows[r].on;
            const Vec3d axis = on[0] * axes.t[0] + on[1] * axes.t[1];
            const int a = w.scene->object(pair.a).body, b_ = w.scene->object(pair.b).body;
            const auto relative = [&](const Data<double>& d) {
              const Motion<double> A = at_point(d.V[a], p), B = at_point(d.V[b_], p);
              return Motion<double>{B.angular - A.angular, B.linear - A.linear};
            };
            const Motion<double> V = relative(after);
            Force<double> F;  // of this row on b, at the point
            double velocity = 0;
            switch (role) {
              case Contact::normal: {
                F.linear = f * n;
                const double approach = -dot(n, relative(before).linear);
                double closing = 0;
                for (int k = 0; k < island.problem.blocks[b].width; ++k)
                  closing -= island.problem.rows[r].d[k] *
                             island.problem.y_free[island.problem.blocks[b].first_channel + k];
                const double back = material.restitution * approach,
                             taken = -options.erp / options.dt * std::max(point.gap - 1e-5, 0.0);
                const bool is_fast = approach > options.restitution_threshold,
                           is_ahead = point.gap > 0 && point.gap >= options.dt * closing;
                // Compliant contact: f = dt max(0, -gap - dt w - tau w) / c.
                const double time = options.dt + material.relaxation_time;
                if (gives)
                  velocity =
                      dot(n, V.linear) + (point.gap + material.compliance / options.dt * f) / time;
                else
                  velocity = dot(n, V.linear) - asked(!is_fast || back == 0 ? taken
                                                      : is_ahead ? -point.gap / options.dt
                                                                 : std::max(back, taken));
                normal_impulse = f;
                break;
              }
              case Contact::friction_1:
              case Contact::friction_2:
                F.linear = f * axis;
                velocity = dot(axis, V.linear);
                break;
              case Contact::torsion:
                F.angular = f * n;
                velocity = dot(n, V.angular);
                break;
              default:
                F.angular = f * axis;
                velocity = dot(axis, V.angular);
            }
            const bool rolls = role == Contact::rolling_1 || role == Contact::rolling_2;
            const double mu = role == Contact::torsion ? material.torsional_friction
                              : rolls                  ? material.rolling_friction
                                                       : material.friction;
            const bool is_normal = role == Contact::normal;
            const bool is_first = island.problem.rows[r].is_disc,
                       is_second = !is_first && is_of_disc(island.problem, r);
            if (is_first)
              first_w = velocity;
            else if (is_second) {
              const double pushes[] = {island.solution.f[r - 1], f}, speeds[] = {first_w, velocity};
              check_disc_law(pushes, speeds, mu * normal_impulse, slack * f_scale, w_slack);
            } else
              check_law(f, velocity, is_normal ? 0 : -mu * normal_impulse,
                        is_normal ? INFINITY : mu * normal_impulse, slack * f_scale, w_slack);
            const Force<double> at_O{F.angular + cross(p, F.linear), F.linear};
            on_body[b_] += at_O;
            on_body[a] -= at_O;
          }
        }
      }

      // Corrections of positions: 0 <= p + f _|_ w >= 0 for the displacement; for bouncing contacts
      // 0 <= p _|_ w >= 0.
      for (std::size_t next = 0; next < step.corrected_islands.size(); ++next) {
        const StepIsland &island = step.islands[step.corrected_islands[next]],
                         &own = step.corrections[next];
        double f_scale = 1e-3;
        const double w_slack = slack * std::max(1.0, row_scale(own.problem, own.solution));
        for (const double f : island.solution.f) f_scale = std::max(f_scale, std::abs(f));
        for (std::size_t b = 0; b < own.blocks.size(); ++b)
          for (int r = own.problem.blocks[b].first_row; r < own.problem.blocks[b].last_row; ++r) {
            const StepIsland::Row& row = island.rows[own.rows[r].corrects];
            double speed = 0;
            for (int k = 0; k < own.problem.blocks[b].width; ++k)
              for (std::size_t j = 0; j < corrected.size(); ++j)
                speed += own.problem.rows[r].d[k] *
                         own.X[j * at(own.problem.channels) +
                               at(own.problem.blocks[b].first_channel + k)] *
                         step.u_corrected[j];
            double gap = 0;
            if (is_of<JointLimit>(row))
              gap = row.role == JointLimit::lower ? c.q[own.blocks[b].q] + 1
                                                  : 1 - c.q[own.blocks[b].q];
            else
              gap = stepper.manifolds()[row.manifold].manifold.points[row.point].gap;
            double target = std::min(-options.erp / options.dt * gap, options.recovery_speed);
            if (row.law == NormalLaw::ahead)
              target = island.problem.rows[own.rows[r].corrects].target;
            if (own.is_relaxed) target = std::min(target, 0.0);
            const double f =
                row.law == NormalLaw::bounce ? 0 : island.solution.f[own.rows[r].corrects];
            ++corrections;
            check_law(f + own.solution.f[r], speed - target, 0, INFINITY, slack * f_scale, w_slack);
          }
      }

      // M a + h - J^T F/dt = tau + joint forces, with the joints' passive forces at the end of the
      // step.
      std::vector<AppliedWrench<double>> wrenches;
      for (auto& [body, F] : on_body) {
        if (body == 0) continue;
        const int frame = frame_of(m, body);
        const Vec3d p = frame_placement(m, after, m.frames[frame]).p - after.X_WB[1].p;
        const double rate = 1 / options.dt;
        wrenches.push_back({frame, {rate * (F.angular - cross(p, F.linear)), rate * F.linear}});
      }
      // rates: due to rotating axes.
      Numbers a(c.v.size()), needed(c.v.size()), rates(c.v.size(), 0.0);
      for (int i = 1; i < m.n_bodies(); ++i) {
        const Joint& joint = m.joints[i];
        const double* x = &c.v[joint.v_index];
        double* const rate = &rates[joint.v_index];
        if (joint.type == JointType::floating) {
          const Vec3d r = cross(Vec3d(x[0], x[1], x[2]), Vec3d(x[3], x[4], x[5]));
          for (int k = 0; k < 3; ++k) rate[k] = r[k];
        } else if (joint.type == JointType::planar) {
          rate[0] = x[1] * x[2];
          rate[1] = -x[0] * x[2];
        }
      }
      for (std::size_t k = 0; k < a.size(); ++k)
        a[k] = (v_start[k] - c.v[k]) / options.dt + rates[k];
      Data<double> data(m);
      rnea(m, data, c.q.data(), c.v.data(), a.data(), needed.data(), wrenches);
      double scale = 1;
      for (const double x : a) scale = std::max(scale, std::abs(x));
      for (int i = 0; i < report.islands; ++i)
        for (const double f : stepper.islands()[i].solution.f)
          scale = std::max(scale, std::abs(f) / options.dt);
      for (int k = 0; k < m.n_v; ++k) {
        double given = c.tau[k] - m.damping[k] * v_start[k] + joint_impulse[k] / options.dt;
        for (const World::Coordinate& coordinate : w.world->coordinates())
          if (coordinate.v == k)
            given -= m.stiffness[k] *
                     (c.q[coordinate.q] + options.dt * v_start[k] - m.spring_reference[k]);
        // 100: bodies of a few kg, forces 1 m from joints.
        check_close(needed[k], given, 100 * scale, 1e-11);
      }
    }
  }
  MESSAGE(relaxed, " relaxed, ", rough, " rough and ", solved, " of ", steps, " steps solved; ",
          contacts, " contacts, ", limits, " limits, ", motors, " motors, ", islands, " islands");
  // About 1 % of heavily redundant rows end in cycles of pivots (mode_solver.h). The report says
  // so.
  CHECK(solved >= steps - steps / 50);
  CHECK(rough <= 5);  // of jamming contacts
  CHECK(relaxed > 20);
  CHECK(contacts > 200);
  CHECK(limits > 50);
  CHECK(corrections > 200);
  CHECK(motors > 200);
  CHECK(islands > steps);
}
