#include "bindings/step_details.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <pybind11/stl.h>

#include "base/index.h"
#include "contact/row_diagnostics.h"
#include "step/constraints/constraint_kinds.h"
#include "step/contact_axes.h"

namespace robosim {
namespace {

const char* name_of(NormalLaw law) {
  constexpr const char* names[] = {"rest", "bounce", "impact", "landing", "ahead", "soft"};
  return names[static_cast<std::size_t>(law)];
}

const char* name_of(RowClass what) {
  constexpr const char* names[] = {"clamping", "separating", "lower", "upper"};
  return names[static_cast<std::size_t>(what)];
}

PartTuple part_tuple(const FeatureId& f) { return {feature_kind_names[static_cast<std::size_t>(f.kind)], f.index, f.part}; }

const SceneQuery::PairManifold& manifold_of(const Stepper& stepper, const StepIsland::Row& row) { return stepper.manifolds()[at(row.manifold)]; }

// Along which a row of a contact acts, or about which.
Vec3d direction_of(const Stepper& stepper, const StepIsland::Row& row) {
  const Vec3d n = manifold_of(stepper, row).manifold.normal();
  if (row.role == Contact::normal || row.role == Contact::torsion) return n;
  const ContactAxes axes = contact_axes(n);
  return row.on[0] * axes.t[0] + row.on[1] * axes.t[1];
}

}  // namespace

// Of one point, by the rows of its manifold.
void StepDetails::add_contact(const BoundScene& scene, const Stepper& stepper, const StepIsland& island, int first_row, int last_row, int point) {
  const SceneQuery::PairManifold& pair = manifold_of(stepper, island.rows[at(first_row)]);
  const double rate = 1 / stepper.options().dt;
  Vec3d force, moment;
  bool pushes = false, slides = false;
  for (int i = first_row; i < last_row; ++i) {
    const StepIsland::Row& row = island.rows[at(i)];
    if (row.point != point) continue;
    const Vec3d f = rate * island.solution.f[at(i)] * direction_of(stepper, row);
        (row.role == Contact::normal || is_friction(row) ? force : moment) += f;
    if (row.role == Contact::normal) pushes = island.solution.f[at(i)] > 0;
    if (is_friction(row)) slides |= island.solution.classes[at(i)] != RowClass::clamping;
  }
  const ManifoldPoint& p = pair.manifold.points[point];
  const bool has_friction = last_row - first_row > pair.manifold.n_points;
  const char* mode = !pushes ? "open" : slides || !has_friction ? "sliding" : "sticking";
  contacts.push_back({.A = scene.name(pair.a),
                      .B = scene.name(pair.b),
                      .point = vec3_array(p.p_W),
                      .normal = vec3_array(pair.manifold.normal()),
                      .gap = p.gap,
                      .force = vec3_array(force),
                      .moment = vec3_array(moment),
                      .mode = mode,
                      .feature_A = part_tuple(p.feature[0]),
                      .feature_B = part_tuple(p.feature[1]),
                      .slide = p.slide});
}

std::size_t StepDetails::add_closure(const Stepper& stepper, const StepIsland& island, std::size_t b) {
  const StepIsland::Block& block = island.blocks[b];
  // The channels are size omega and v of the second: what is conjugate to them.
  const double* const z = island.solution.z.data() + island.problem.blocks[b].first_channel;
  const double rate = 1 / stepper.options().dt;
  const Vec3d moment = rate * block.size * Vec3d{z[0], z[1], z[2]}, force = rate * Vec3d{z[3], z[4], z[5]};
  std::string name;
  visit_kind(block, [&](auto kind) {
    if constexpr (requires { kind.name(stepper.world(), 0); }) name = kind.name(stepper.world(), block.item);
  });
  // Frames in the order of the world's; of other kinds behind them.
  const std::size_t number = is_of<ClosureOfFrames>(block) ? at(block.item) : closures.size();
  closures.resize(std::max(closures.size(), number + 1));
  closures[number] = {.name = name, .point = vec3_array(block.centre), .force = vec3_array(force), .moment = vec3_array(moment)};
  return number;
}

void StepDetails::add_joint(const Stepper& stepper, const StepIsland& island, std::size_t b, int row) {
  const StepIsland::Row& own = island.rows[at(row)];
  const double sign = island.problem.rows[at(row)].d[0];  // of the coordinate in the row
  joints.push_back({.coordinate = island.blocks[b].v, .source = row_name(own), .force = sign * island.solution.f[at(row)] / stepper.options().dt});
}

StepDetails::StepDetails(const BoundScene& scene, const Stepper& stepper, int n_islands) {
  closures.resize(n_islands > 0 ? stepper.world().closures().frames.size() : 0);
  for (int n = 0; n < n_islands; ++n) {
    const StepIsland &island = stepper.islands()[n], *const recovered = stepper.data().recovered_of(n);
    std::vector<RowDetail> rows, way;
    std::size_t next = 0;  // of the corrections
    const auto add_row = [&](int i, std::size_t number, const std::optional<Array>& direction, bool has_law) {
      const auto add = [&](const StepIsland& solved, int r, std::vector<RowDetail>& to) {
        const StepIsland::Row& row = solved.rows[at(r)];
        const RowSolution& s = solved.solution;
        to.push_back({.source = row_name(row),
                      .of = static_cast<int>(number),
                      .direction = direction,
                      .law = has_law ? name_of(row.law) : "",
                      .mode = name_of(s.classes[at(r)]),
                      .impulse = s.f[at(r)],
                      .velocity = s.w[at(r)],
                      .target = solved.problem.rows[at(r)].target,
                      .switch_distance = switch_distance(solved.problem, solved.sizes, s, r),
                      .share = row.impact});
      };
      add(island, i, rows);
      if (recovered && next < recovered->rows.size() && recovered->rows[next].corrects == i) add(*recovered, static_cast<int>(next++), way);
    };
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const RowBlock& block = island.problem.blocks[b];
      if (is_of<Contact>(island.blocks[b])) {
        island.for_each_manifold(b, [&](int first_row, int last_row) {
          const std::size_t before = contacts.size();
          const int points = manifold_of(stepper, island.rows[at(first_row)]).manifold.n_points;
          for (int p = 0; p < points; ++p) add_contact(scene, stepper, island, first_row, last_row, p);
          for (int i = first_row; i < last_row; ++i) {
            const StepIsland::Row& row = island.rows[at(i)];
            add_row(i, before + at(row.point), vec3_array(direction_of(stepper, row)), true);
          }
        });
      } else if (island.blocks[b].is_of_bodies()) {
        const std::size_t number = add_closure(stepper, island, b);
        for (int i = block.first_row; i < block.last_row; ++i) add_row(i, number, std::nullopt, false);
      } else {
        for (int i = block.first_row; i < block.last_row; ++i) add_row(i, joints.size(), std::nullopt, false), add_joint(stepper, island, b, i);
      }
    }
    const pybind11::ssize_t m = static_cast<pybind11::ssize_t>(island.rows.size());
    Array A(Shape2{m, m});
    const std::vector<double> admittances = row_admittances(island.problem);
    std::copy(admittances.begin(), admittances.end(), A.mutable_data());
    islands.push_back({std::move(rows), std::move(way), A});
  }
  const StepData& step = stepper.data();
  std::vector<double> corrected(step.size(), 0.0);
  for (std::size_t k = 0; k < corrected.size() && step.has_recovery(); ++k) corrected[k] = step.u_recovered[k] - step.u[k];
  taken_back = Array(static_cast<pybind11::ssize_t>(corrected.size()), corrected.data());
}

void bind_step_details(pybind11::module_& m) {
  namespace py = pybind11;
  py::class_<ContactDetail>(m, "ContactForce", "See robosim.simulation.ContactForce.")
      .def_readonly("A", &ContactDetail::A)
      .def_readonly("B", &ContactDetail::B)
      .def_readonly("point", &ContactDetail::point)
      .def_readonly("normal", &ContactDetail::normal)
      .def_readonly("gap", &ContactDetail::gap)
      .def_readonly("force", &ContactDetail::force)
      .def_readonly("moment", &ContactDetail::moment)
      .def_readonly("mode", &ContactDetail::mode)
      .def_readonly("feature_A", &ContactDetail::feature_A)
      .def_readonly("feature_B", &ContactDetail::feature_B)
      .def_readonly("slide", &ContactDetail::slide);
  py::class_<JointDetail>(m, "JointForce", "See robosim.simulation.JointForce; coordinate is an entry of v.")
      .def_readonly("coordinate", &JointDetail::coordinate)
      .def_readonly("source", &JointDetail::source)
      .def_readonly("force", &JointDetail::force);
  py::class_<ClosureDetail>(m, "ClosureForce", "See robosim.simulation.ClosureForce.")
      .def_readonly("name", &ClosureDetail::name)
      .def_readonly("point", &ClosureDetail::point)
      .def_readonly("force", &ClosureDetail::force)
      .def_readonly("moment", &ClosureDetail::moment);
  py::class_<RowDetail>(m, "StepRow", "See robosim.simulation.StepRow.")
      .def_readonly("source", &RowDetail::source)
      .def_readonly("of", &RowDetail::of)
      .def_readonly("direction", &RowDetail::direction)
      .def_readonly("law", &RowDetail::law)
      .def_readonly("mode", &RowDetail::mode)
      .def_readonly("impulse", &RowDetail::impulse)
      .def_readonly("velocity", &RowDetail::velocity)
      .def_readonly("target", &RowDetail::target)
      .def_readonly("switch", &RowDetail::switch_distance)
      .def_readonly("share", &RowDetail::share);
  py::class_<IslandDetail>(m, "StepIsland", "See robosim.simulation.StepIsland.")
      .def_readonly("rows", &IslandDetail::rows)
      .def_readonly("way", &IslandDetail::way)
      .def_readonly("admittance", &IslandDetail::admittance);
  py::class_<StepDetails>(m, "StepDetails", "All that acted in a step.")
      .def_readonly("contacts", &StepDetails::contacts)
      .def_readonly("joints", &StepDetails::joints)
      .def_readonly("closures", &StepDetails::closures)
      .def_readonly("islands", &StepDetails::islands)
      .def_readonly("taken_back", &StepDetails::taken_back, "(n_v,) the part of the mean velocity over the step that takes back overlaps.");
}

}  // namespace robosim
