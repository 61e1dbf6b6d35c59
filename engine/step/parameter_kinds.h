// Kinds of parameters: the numbers of a world with respect to which its steps are differentiated.
//
// `parameter_kinds` is the single list of them. The list determines
//   - the layout of gradients and directions, zeros, sums and products (parameters.h)
//   - the arrays and names of the bindings, and the checks of World and of Python
//   - the table of the documentation, and test cases
// A new parameter of a law needs the field that holds it (here or in Model) and a row below. The
// law needs its effect, and the line that adds to its gradient. A name that is not in the list does
// not compile:
//
//   *gradient.parameters.of("friction", pair) += mu_bar;
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scene/collision_scene.h"
#include "step/closures.h"

namespace robosim {

class World;

// Material of a pair of surfaces.
struct PairMaterial {
  // Coefficient mu, per friction axis or for both axes together, depending on the solver [-].
  double friction = 1;
  double restitution = 0;         // share of the approach speed that is restored, 0 to 1 [-]
  double torsional_friction = 0;  // moment about the normal, per normal force [m]
  double rolling_friction = 0;    // moment about each axis of friction, per normal force [m]
  // Compliance of each point along the normal: displacement per force [m/N]; 0: hard.
  double compliance = 0;
  double relaxation_time = 0;  // damping over stiffness, if compliant [s]
};

// Motor of one entry of v: tau = position_gain (q_target - q+) + velocity_gain (v_target - v+), at
// the end of the step, within the limit.
struct Motor {
  double position_gain = 0;  // [N m/rad] or [N/m]; only for joints with one position
  double velocity_gain = 0;  // [N m s/rad] or [N s/m]
  double limit = std::numeric_limits<double>::infinity();  // largest |tau| [N m] or [N]

  bool is_there() const { return position_gain > 0 || velocity_gain > 0; }
};

// Mutable copy of the parts of a world, from which another world can be built. A World itself is
// immutable.
struct WorldParts {
  Model model;
  std::vector<ExtraObject> extras;  // objects besides the model's colliders
  std::vector<std::pair<int, int>> pairs;
  std::vector<PairMaterial> materials;
  std::vector<Motor> motors;
  Closures closures;
  double dt;  // [s]

  WorldParts(const World& world, double dt);

  int n_objects() const { return static_cast<int>(model.colliders.size() + extras.size()); }
  const CollisionGeometry& geometry(int object) const {
    return const_cast<WorldParts*>(this)->geometry(object);
  }
  CollisionGeometry& geometry(int object) {
    const std::size_t i = static_cast<std::size_t>(object), n = model.colliders.size();
    return i < n ? model.colliders[i].geometry : extras[i - n].geometry;
  }
  SE3d& pose(int object) {
    const std::size_t i = static_cast<std::size_t>(object), n = model.colliders.size();
    return i < n ? model.colliders[i].X_BC : extras[i - n].X_BO;
  }
};

// Access to the numbers of all owners of a kind in the parts of a world, owner after owner.
// Geometric parameters are measured from the present geometry: they read as zero, or as one for
// scale, and writing them moves the geometry.
struct ParameterAccess {
  void (*read)(const WorldParts& parts, int owners, double* x);
  void (*write)(WorldParts& parts, int owners, const double* x);
  // Member of PairMaterial or Motor, which World checks; null for other kinds.
  double PairMaterial::*of_pair = nullptr;
  double Motor::*of_motor = nullptr;
};

namespace detail {

template <auto list, auto field>
struct Field {
  static double& of(WorldParts& parts, int i) { return (parts.*list)[i].*field; }
  static constexpr auto member = field;
};
template <auto array>
struct OfModel {
  static double& of(WorldParts& parts, int i) { return (parts.model.*array)[i]; }
};
template <auto array>
struct OfLimits {
  static double& of(WorldParts& parts, int i) { return (parts.model.limits.*array)[i]; }
};
struct Mass {
  static double& of(WorldParts& parts, int i) {
    return parts.model.inertias[static_cast<std::size_t>(i) + 1].mass;
  }
};
struct Dt {
  static double& of(WorldParts& parts, int) { return parts.dt; }
};

// Member of Owner that a Place refers to, or null.
template <class Owner, class Place>
constexpr double Owner::*member_of() {
  if constexpr (requires {
                  requires std::is_same_v < std::remove_const_t<decltype(Place::member)>,
                  double Owner::* > ;
                })
    return Place::member;
  else
    return nullptr;
}

// Access for kinds with one number per owner. Place::of returns a reference to it.
template <class Place>
inline constexpr ParameterAccess number{[](const WorldParts& parts, int owners, double* x) {
                                          for (int i = 0; i < owners; ++i)
                                            x[i] = Place::of(const_cast<WorldParts&>(parts), i);
                                        },
                                        [](WorldParts& parts, int owners, const double* x) {
                                          for (int i = 0; i < owners; ++i)
                                            Place::of(parts, i) = x[i];
                                        },
                                        member_of<PairMaterial, Place>(),
                                        member_of<Motor, Place>()};

template <int width>
void read_zeros(const WorldParts&, int owners, double* x) {
  std::fill_n(x, owners * width, 0.0);
}
void write_poses(WorldParts& parts, int owners, const double* x);
void read_object_sizes(const WorldParts& parts, int owners, double* x);
void write_object_sizes(WorldParts& parts, int owners, const double* x);
void read_object_scales(const WorldParts& parts, int owners, double* x);
void write_object_scales(WorldParts& parts, int owners, const double* x);
void read_vertices(const WorldParts& parts, int owners, double* x);
void write_vertices(WorldParts& parts, int owners, const double* x);
void write_closure_frames(WorldParts& parts, int owners, const double* x);
void read_coefficients(const WorldParts& parts, int owners, double* x);
void write_coefficients(WorldParts& parts, int owners, const double* x);
void read_com(const WorldParts& parts, int owners, double* x);
void write_com(WorldParts& parts, int owners, const double* x);
void read_moments(const WorldParts& parts, int owners, double* x);
void write_moments(WorldParts& parts, int owners, const double* x);
void write_placements(WorldParts& parts, int owners, const double* x);
void read_gravity(const WorldParts& parts, int owners, double* x);
void write_gravity(WorldParts& parts, int owners, const double* x);

}  // namespace detail

// Owner of a parameter, and the numbering of the owners.
enum class ParameterOwner : std::uint8_t {
  pair,        // pairs of objects that may touch
  motor,       // one per entry of v
  object,      // CollisionScene::objects
  vertex,      // rows of World::vertices
  closure,     // closures of two frames: Closures::frames
  equality,    // Closures::joints
  body,        // body that a joint moves, and this joint: index of body - 1
  coordinate,  // entry of v
  position,    // entry of q
  world        // a single owner
};

// True if the numbers of one owner are contiguous, kind after kind. Otherwise those of one kind are
// contiguous, owner after owner.
constexpr bool is_record(ParameterOwner owner) {
  return owner == ParameterOwner::pair || owner == ParameterOwner::motor ||
         owner == ParameterOwner::object;
}

struct ParameterKind {
  std::string_view name;
  ParameterOwner owner;
  int rows, columns;  // shape of the numbers of one owner, stored by columns
  std::string_view unit, about;
  double least;            // smallest valid value
  ParameterAccess access;  // access to the values
  // Largest valid value; infinite if infinite values are valid.
  double most = std::numeric_limits<double>::max();

  constexpr int width() const { return rows * columns; }
};

// Geometric parameters are measured from the present geometry: poses by twists (linear, angular) of
// a frame in itself, scale by a factor with value 1.
inline constexpr auto parameter_kinds = [] {
  using namespace detail;
  constexpr double any = std::numeric_limits<double>::infinity();
  return std::to_array<ParameterKind>({
      {"friction", ParameterOwner::pair, 1, 1, "-", "Coulomb's mu of two surfaces", 0,
       number<Field<&WorldParts::materials, &PairMaterial::friction>>},
      {"restitution", ParameterOwner::pair, 1, 1, "-",
       "part of the approaching speed that comes back", 0,
       number<Field<&WorldParts::materials, &PairMaterial::restitution>>, 1},
      {"torsional_friction", ParameterOwner::pair, 1, 1, "m",
       "moment about the normal, per normal force", 0,
       number<Field<&WorldParts::materials, &PairMaterial::torsional_friction>>},
      {"rolling_friction", ParameterOwner::pair, 1, 1, "m",
       "moment about each axis across the normal, per normal force", 0,
       number<Field<&WorldParts::materials, &PairMaterial::rolling_friction>>},
      {"compliance", ParameterOwner::pair, 1, 1, "m/N",
       "of each point along the normal; without a derivative where it is 0", 0,
       number<Field<&WorldParts::materials, &PairMaterial::compliance>>},
      {"relaxation_time", ParameterOwner::pair, 1, 1, "s",
       "damping over stiffness of what is compliant", 0,
       number<Field<&WorldParts::materials, &PairMaterial::relaxation_time>>},
      {"position_gain", ParameterOwner::motor, 1, 1, "N m/rad or N/m", "of a motor, per position",
       0, number<Field<&WorldParts::motors, &Motor::position_gain>>},
      {"velocity_gain", ParameterOwner::motor, 1, 1, "N m s/rad or N s/m",
       "of a motor, per velocity", 0, number<Field<&WorldParts::motors, &Motor::velocity_gain>>},
      {"motor_limit", ParameterOwner::motor, 1, 1, "N m or N", "greatest force of a motor", 0,
       number<Field<&WorldParts::motors, &Motor::limit>>, any},
      {"pose",
       ParameterOwner::object,
       6,
       1,
       "m, rad",
       "of a shape: twist in its own frame",
       -any,
       {read_zeros<6>, write_poses}},
      {"sizes",
       ParameterOwner::object,
       4,
       1,
       "m",
       "of a shape: its sizes in the order of its type, zero beyond",
       0,
       {read_object_sizes, write_object_sizes}},
      {"scale",
       ParameterOwner::object,
       1,
       1,
       "-",
       "of a shape: factor about the origin of its frame",
       0,
       {read_object_scales, write_object_scales}},
      {"vertices",
       ParameterOwner::vertex,
       3,
       1,
       "m",
       "of convex meshes and triangles, in the frame of the shape",
       -any,
       {read_vertices, write_vertices}},
      {"frames",
       ParameterOwner::closure,
       2,
       6,
       "m, rad",
       "of a closure: twists of its two frames in themselves",
       -any,
       {read_zeros<12>, write_closure_frames}},
      {"coefficients",
       ParameterOwner::equality,
       5,
       1,
       "rad or m, per power",
       "of the polynomial that a joint follows",
       -any,
       {read_coefficients, write_coefficients}},
      {"mass", ParameterOwner::body, 1, 1, "kg", "center of mass and moments about it held", 0,
       number<Mass>},
      {"com",
       ParameterOwner::body,
       3,
       1,
       "m",
       "center of mass, moments about it held",
       -any,
       {read_com, write_com}},
      {"inertia",
       ParameterOwner::body,
       6,
       1,
       "kg m^2",
       "xx, xy, yy, xz, yz, zz about the center of mass",
       -any,
       {read_moments, write_moments}},
      {"placement",
       ParameterOwner::body,
       6,
       1,
       "m, rad",
       "of a joint in its parent: twist in its own frame",
       -any,
       {read_zeros<6>, write_placements}},
      {"armature", ParameterOwner::coordinate, 1, 1, "kg m^2 or kg",
       "inertia of a drive as seen at its joint", 0, number<OfModel<&Model::armature>>},
      {"damping", ParameterOwner::coordinate, 1, 1, "N m s/rad or N s/m",
       "viscous friction of a joint", 0, number<OfModel<&Model::damping>>},
      {"joint_friction", ParameterOwner::coordinate, 1, 1, "N m or N", "dry friction of a joint", 0,
       number<OfModel<&Model::friction>>},
      {"stiffness", ParameterOwner::coordinate, 1, 1, "N m/rad or N/m", "of a joint's spring", 0,
       number<OfModel<&Model::stiffness>>},
      {"spring_reference", ParameterOwner::coordinate, 1, 1, "rad or m",
       "where a joint's spring exerts nothing", -any, number<OfModel<&Model::spring_reference>>},
      {"speed_limit", ParameterOwner::coordinate, 1, 1, "rad/s or m/s",
       "of a joint, where the step keeps it", 0, number<OfLimits<&Limits::velocity>>, any},
      {"lower_limit", ParameterOwner::position, 1, 1, "rad or m", "of a joint's position", -any,
       number<OfLimits<&Limits::q_lower>>, any},
      {"upper_limit", ParameterOwner::position, 1, 1, "rad or m", "of a joint's position", -any,
       number<OfLimits<&Limits::q_upper>>, any},
      {"gravity",
       ParameterOwner::world,
       3,
       1,
       "m/s^2",
       "in axes of W",
       -any,
       {read_gravity, write_gravity}},
      {"dt", ParameterOwner::world, 1, 1, "s", "length of a step", 0, number<Dt>},
  });
}();
inline constexpr int n_parameter_kinds = static_cast<int>(parameter_kinds.size());
static_assert(std::all_of(parameter_kinds.begin(), parameter_kinds.end(),
                          [](const ParameterKind& x) {
                            return (x.owner != ParameterOwner::pair || x.access.of_pair) &&
                                   (x.owner != ParameterOwner::motor || x.access.of_motor);
                          }),
              "numbers of surfaces and motors are fields of these, which World checks");

}  // namespace robosim
