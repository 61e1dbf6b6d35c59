#include "bindings/step_details.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <pybind11/stl.h>

#include "base/index.h"
#include "contact/row_diagnostics.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/impacts.h"
#include "step/contact_axes.h"

namespace robosim {
namespace {

const char* name_of(NormalLaw law) {
  constexpr const char* names[] = {"rest", "bounce", "impact", "landing", "held", "ahead", "soft"};
  return names[static_cast<std::size_t>(law)];
}

const char* name_of(RowClass what) {
  constexpr const char* names[] = {"clamping", "separating", "lower", "upper"};
  return names[static_cast<std::size_t>(what)];
}

PartTuple part_tuple(const FeatureId& f) {
  return {feature_kind_names[static_cast<std::size_t>(f.kind)], f.index, f.part};
}

const SceneQuery::PairManifold& manifold_of(const Stepper& stepper, const StepIsland::Row& row) {
  return stepper.manifolds()[row.manifold];
}

// Velocities of an impact's rows from its relative-twist coordinates y. The part of restitution is
// included for normals that bounce at the impact; see constraints/impacts.h.
Array velocities_at(const Impact& met, const std::vector<double>& y) {
  Array out(static_cast<pybind11::ssize_t>(met.rows.size()));
  for (const RowBlock& block : met.problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      const bool bounces =
          met.rows[i].law == NormalLaw::impact && met.rows[i].role == Contact::normal;
      double w = bounces ? -met.restored * until_impact(met, block, i) : 0;
      for (int k = 0; k < block.width; ++k)
        w += met.problem.rows[i].d[k] * y[block.first_channel + k];
      out.mutable_data()[i] = w;
    }
  return out;
}

// Direction along which, or axis about which, a row of a contact acts.
Vec3d direction_of(const Stepper& stepper, const StepIsland::Row& row) {
  const Vec3d n = manifold_of(stepper, row).manifold.normal();
  if (row.role == Contact::normal || row.role == Contact::torsion) return n;
  const ContactAxes axes = contact_axes(n);
  return row.on[0] * axes.t[0] + row.on[1] * axes.t[1];
}

}  // namespace

void StepDetails::add_contact(const BoundScene& scene, const SceneQuery::PairManifold& pair,
                              int point) {
  const ManifoldPoint& p = pair.manifold.points[point];
  contacts.push_back({.A = scene.name(pair.a),
                      .B = scene.name(pair.b),
                      .point = vec3_array(p.p_W),
                      .normal = vec3_array(pair.manifold.normal()),
                      .gap = p.gap,
                      .force = vec3_array(Vec3d()),
                      .moment = vec3_array(Vec3d()),
                      .mode = "open",
                      .feature_A = part_tuple(p.feature[0]),
                      .feature_B = part_tuple(p.feature[1]),
                      .slide = p.slide});
}

// Add the contacts, joint forces and closures of an island, with zero forces. `whole` is the island
// with the rows of its impacts, which `island` is without.
void StepDetails::add_parts(const BoundScene& scene, const Stepper& stepper,
                            const StepIsland& whole, const StepIsland& island, Numbers& numbers) {
  numbers.of_block.assign(island.blocks.size(), 0);
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const StepIsland::Block& block = island.blocks[b];
    if (is_of<Contact>(block)) {
      whole.for_each_manifold(b, [&](int first_row, int) {
        const SceneQuery::PairManifold& pair = manifold_of(stepper, whole.rows[first_row]);
        numbers.first_contact[whole.rows[first_row].manifold] = contacts.size();
        for (int p = 0; p < pair.manifold.n_points; ++p) add_contact(scene, pair, p);
      });
    } else if (block.is_of_bodies()) {
      std::string name;
      visit_kind(block, [&](auto kind) {
        if constexpr (requires { kind.name(stepper.world(), 0); })
          name = kind.name(stepper.world(), block.item);
      });
      // Closures of frames keep the order of the world; other kinds of closures follow.
      const std::size_t number = numbers.of_block[b] =
          is_of<ClosureOfFrames>(block) ? at(block.item) : closures.size();
      closures.resize(std::max(closures.size(), number + 1));
      closures[number] = {.name = name,
                          .point = vec3_array(block.center),
                          .force = vec3_array(Vec3d()),
                          .moment = vec3_array(Vec3d())};
    } else {
      numbers.of_block[b] = joints.size();
      for (int i = island.problem.blocks[b].first_row; i < island.problem.blocks[b].last_row; ++i)
        joints.push_back({.coordinate = block.v, .source = row_name(island.rows[i]), .force = 0});
    }
  }
}

std::size_t StepDetails::number_of(const StepIsland& solved, std::size_t b, int row,
                                   const Numbers& numbers) const {
  const StepIsland::Row& own = solved.rows[row];
  if (is_of<Contact>(solved.blocks[b])) return numbers.first_contact[own.manifold] + at(own.point);
  std::size_t number = numbers.of_block[b];
  if (!solved.blocks[b].is_of_bodies())
    while (joints[number].source != row_name(own)) ++number;
  return number;
}

// Add the forces of the rows of an island, or of one of its impacts.
void StepDetails::add_forces(const Stepper& stepper, const StepIsland& solved,
                             const Numbers& numbers) {
  const double rate = 1 / stepper.options().dt;
  const auto add = [](Array& to, const Vec3d& x) {
    for (int k = 0; k < 3; ++k) to.mutable_data()[k] += x[k];
  };
  for (std::size_t b = 0; b < solved.blocks.size(); ++b) {
    const StepIsland::Block& block = solved.blocks[b];
    const RowBlock& rows = solved.problem.blocks[b];
    if (block.is_of_bodies() && !is_of<Contact>(block)) {
      if (rows.first_row == rows.last_row) continue;
      // The coordinates are size * omega and v of the second body, so z has their conjugate
      // impulses.
      const double* const z = solved.solution.z.data() + rows.first_channel;
      add(closures[numbers.of_block[b]].moment, rate * block.size * Vec3d{z[0], z[1], z[2]});
      add(closures[numbers.of_block[b]].force, rate * Vec3d{z[3], z[4], z[5]});
      continue;
    }
    bool pushes = false, has_friction = false, slides = false;
    for (int i = rows.first_row; i < rows.last_row; ++i) {
      const StepIsland::Row& row = solved.rows[i];
      const std::size_t number = number_of(solved, b, i, numbers);
      const double f = rate * solved.solution.f[i];
      if (!is_of<Contact>(block)) {
        // The row acts along one coordinate.
        joints[number].force += solved.problem.rows[i].d[0] * f;
        continue;
      }
      // Contact: normal and friction rows act as forces, torsion and rolling as moments.
      ContactDetail& contact = contacts[number];
      add(row.role == Contact::normal || is_friction(row) ? contact.force : contact.moment,
          f * direction_of(stepper, row));
      if (row.role == Contact::normal) {
        pushes = f > 0;
        has_friction = slides = false;
      }
      has_friction |= row.role != Contact::normal;
      slides |= is_friction(row) && solved.solution.classes[i] != RowClass::clamping;
      const bool is_last = i + 1 == rows.last_row || solved.rows[i + 1].role == Contact::normal;
      if (is_last && pushes) contact.mode = slides || !has_friction ? "sliding" : "sticking";
    }
  }
}

std::vector<RowDetail> StepDetails::details_of(const Stepper& stepper, const StepIsland& solved,
                                               const Numbers& numbers) const {
  std::vector<RowDetail> out;
  const RowSolution& s = solved.solution;
  for (std::size_t b = 0; b < solved.blocks.size(); ++b)
    for (int i = solved.problem.blocks[b].first_row; i < solved.problem.blocks[b].last_row; ++i) {
      const StepIsland::Row& row = solved.rows[i];
      const bool is_of_contact = is_of<Contact>(solved.blocks[b]);
      out.push_back({.source = row_name(row),
                     .of = static_cast<int>(number_of(solved, b, i, numbers)),
                     .direction = is_of_contact
                                      ? std::optional(vec3_array(direction_of(stepper, row)))
                                      : std::nullopt,
                     .law = is_of_contact ? name_of(row.law) : "",
                     .mode = name_of(s.classes[i]),
                     .impulse = s.f[i],
                     .velocity = s.w[i],
                     .target = solved.problem.rows[i].target,
                     .switch_distance = switch_distance(solved.problem, solved.sizes, s, i)});
    }
  return out;
}

StepDetails::StepDetails(const BoundScene& scene, const Stepper& stepper, int n_islands) {
  const StepData& step = stepper.data();
  closures.resize(n_islands > 0 ? stepper.world().closures().frames.size() : 0);
  Numbers numbers;
  numbers.first_contact.resize(step.manifolds.size());
  for (int n = 0; n < n_islands; ++n) {
    const StepIsland &island = step.islands[n], *const corrections = step.corrections_of(n);
    const Impacts& impacts = step.impacts[n];
    add_parts(scene, stepper, impacts.all.rows.empty() ? island : impacts.all, island, numbers);
    add_forces(stepper, island, numbers);
    IslandDetail detail{details_of(stepper, island, numbers), {}, {}, {}};
    if (corrections) detail.way = details_of(stepper, *corrections, numbers);
    for (int i = 0; i < impacts.n; ++i) {
      const Impact& met = impacts.each[i];
      add_forces(stepper, met, numbers);
      detail.impacts.push_back({met.share,
                                met.restored,
                                velocities_at(met, met.problem.y_free),
                                velocities_at(met, met.solution.y),
                                details_of(stepper, met, numbers),
                                {}});
      if (met.is_limited())
        detail.impacts.back().landed = details_of(stepper, met.parts[1], numbers);
    }
    // Delassus operator of the rows with their compliance, (m, m).
    const pybind11::ssize_t m = static_cast<pybind11::ssize_t>(island.rows.size());
    detail.admittance = Array(Shape2{m, m});
    const std::vector<double> admittances = row_admittances(island.problem);
    std::copy(admittances.begin(), admittances.end(), detail.admittance.mutable_data());
    islands.push_back(std::move(detail));
  }
  // Velocity that position correction used, without adding it to the state.
  std::vector<double> corrected(step.size(), 0.0);
  for (std::size_t k = 0; k < corrected.size() && step.has_corrections(); ++k)
    corrected[k] = step.u_corrected[k] - step.u[k];
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
  py::class_<JointDetail>(m, "JointForce",
                          "See robosim.simulation.JointForce; coordinate is an entry of v.")
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
      .def_readonly("switch", &RowDetail::switch_distance);
  py::class_<ImpactDetail>(m, "StepImpact", "See robosim.simulation.StepImpact.")
      .def_readonly("share", &ImpactDetail::share)
      .def_readonly("restored", &ImpactDetail::restored)
      .def_readonly("before", &ImpactDetail::before)
      .def_readonly("after", &ImpactDetail::after)
      .def_readonly("rows", &ImpactDetail::rows)
      .def_readonly("landed", &ImpactDetail::landed);
  py::class_<IslandDetail>(m, "StepIsland", "See robosim.simulation.StepIsland.")
      .def_readonly("rows", &IslandDetail::rows)
      .def_readonly("way", &IslandDetail::way)
      .def_readonly("impacts", &IslandDetail::impacts)
      .def_readonly("admittance", &IslandDetail::admittance);
  py::class_<StepDetails>(m, "StepDetails", "All that acted in a step.")
      .def_readonly("contacts", &StepDetails::contacts)
      .def_readonly("joints", &StepDetails::joints)
      .def_readonly("closures", &StepDetails::closures)
      .def_readonly("islands", &StepDetails::islands)
      .def_readonly("taken_back", &StepDetails::taken_back,
                    "(n_v,) the part of the mean velocity over the step that takes back overlaps.");
}

}  // namespace robosim
