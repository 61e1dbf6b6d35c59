#include "geometry/pair_table.h"

#include <array>
#include <tuple>
#include <utility>

#include "geometry/pairs/box_sphere.h"
#include "geometry/pairs/capsule_capsule.h"
#include "geometry/pairs/capsule_sphere.h"
#include "geometry/pairs/cone_sphere.h"
#include "geometry/pairs/cylinder_sphere.h"
#include "geometry/pairs/ellipsoid_sphere.h"
#include "geometry/pairs/generic.h"
#include "geometry/pairs/half_space.h"
#include "geometry/pairs/half_space_half_space.h"
#include "geometry/pairs/sphere_sphere.h"
#include "geometry/pairs/triangle_sphere.h"

namespace robosim {
namespace {

// The cells that are not GJK and EPA. Half-spaces against every bounded type are filled in below.
using AnalyticPairs =
    std::tuple<SphereSphere, BoxSphere, CapsuleSphere, CylinderSphere, EllipsoidSphere, ConeSphere, TriangleSphere,
               CapsuleCapsule, HalfSpaceHalfSpace>;

// The functions of pair P; what P does not define follows from its signed distance.
template <class P>
constexpr PairFunctions functions_of(bool analytic) {
  PairFunctions f;
  f.signed_distance = P::signed_distance;
  f.analytic = analytic;
  if constexpr (requires { P::closer_than; }) {
    f.closer_than = P::closer_than;
  } else {
    f.closer_than = [](double margin, const Shape& A, const Shape& B, const SE3d& X_AB, PairCache& cache) {
      return P::signed_distance(A, B, X_AB, cache).distance < margin;
    };
  }
  if constexpr (requires { P::distance_lower_bound; }) {
    f.distance_lower_bound = P::distance_lower_bound;
  } else {
    f.distance_lower_bound = [](double, const Shape& A, const Shape& B, const SE3d& X_AB, PairCache& cache) {
      return std::fmax(0.0, P::signed_distance(A, B, X_AB, cache).distance);
    };
  }
  return f;
}

using Table = std::array<std::array<PairFunctions, n_shape_types>, n_shape_types>;

constexpr void set(Table& table, ShapeType a, ShapeType b, PairFunctions f) {
  table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = f;
  if (a == b) return;
  f.swapped = true;
  table[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] = f;
}

template <int cell>
constexpr void set_generic(Table& table, bool against_half_space) {
  constexpr ShapeType a = static_cast<ShapeType>(cell / n_shape_types), b = static_cast<ShapeType>(cell % n_shape_types);
  if constexpr (a == ShapeType::half_space && b != ShapeType::half_space) {
    if (against_half_space) set(table, a, b, functions_of<HalfSpaceAgainst<b>>(true));
  } else if constexpr (a <= b && a != ShapeType::half_space && b != ShapeType::half_space) {
    set(table, a, b, functions_of<GenericPair<a, b>>(false));
  }
}

template <int... cells>
constexpr Table generic_table(bool against_half_space, std::integer_sequence<int, cells...>) {
  Table table{};
  (set_generic<cells>(table, against_half_space), ...);
  return table;
}

template <class... Pairs>
constexpr Table with(Table table, const std::tuple<Pairs...>*) {
  (set(table, Pairs::a, Pairs::b, functions_of<Pairs>(true)), ...);
  return table;
}

using Cells = std::make_integer_sequence<int, n_shape_types * n_shape_types>;
constexpr Table generic = generic_table(false, Cells{});
constexpr Table table = with(generic_table(true, Cells{}), static_cast<const AnalyticPairs*>(nullptr));

}  // namespace

const PairFunctions& pair_functions(ShapeType a, ShapeType b) {
  return table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

PairFunctions generic_pair_functions(ShapeType a, ShapeType b) {
  return generic[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

}  // namespace robosim
