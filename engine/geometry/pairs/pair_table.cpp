#include "geometry/pairs/pair_table.h"

#include <array>
#include <tuple>
#include <utility>

#include "geometry/pairs/box_sphere.h"
#include "geometry/pairs/capsule_capsule.h"
#include "geometry/pairs/capsule_sphere.h"
#include "geometry/pairs/cone_sphere.h"
#include "geometry/pairs/cylinder_sphere.h"
#include "geometry/pairs/ellipsoid_sphere.h"
#include "geometry/pairs/generic_pairs.h"
#include "geometry/pairs/half_space.h"
#include "geometry/pairs/half_space_half_space.h"
#include "geometry/pairs/segment_against.h"
#include "geometry/pairs/sphere_sphere.h"
#include "geometry/pairs/triangle_sphere.h"
#include "geometry/pairs/triangle_triangle.h"

namespace robosim {

ROBOSIM_PRIMITIVE_PAIRS(extern)
ROBOSIM_MESH_PAIRS(extern)

namespace {

// Pairs with closed forms. Half-spaces against every bounded type are added below.
using AnalyticPairs =
    std::tuple<SphereSphere, BoxSphere, CapsuleSphere, CylinderSphere, EllipsoidSphere, ConeSphere,
               TriangleSphere, CapsuleCapsule, HalfSpaceHalfSpace>;

// Witness of an analytic pair with everything in W; the pair takes (B, A) if `swapped`.
template <class P, bool swapped>
ROBOSIM_INLINE Witness witness_in_W(const Shape& A, const SE3d& X_WA, const Shape& B,
                                    const SE3d& X_WB) {
  const SE3d &X_W1 = swapped ? X_WB : X_WA, &X_W2 = swapped ? X_WA : X_WB;
  const Shape &first = swapped ? B : A, &second = swapped ? A : B;
  Witness w;
  if constexpr (requires { P::signed_distance_in_W; }) {
    w = P::signed_distance_in_W(first, X_W1, second, X_W2);
  } else {
    PairCache unused;
    w = P::signed_distance(first, second, relative(X_W1, X_W2), unused);
    w.p_WA = X_W1 * w.p_WA;
    w.p_WB = X_W1 * w.p_WB;
    w.normal = X_W1.R * w.normal;
  }
  if constexpr (swapped) return {w.distance, w.p_WB, w.p_WA, -w.normal};
  return w;
}
template <class P, bool swapped>
Witness in_W(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) {
  return witness_in_W<P, swapped>(A, X_WA, B, X_WB);
}
// Distance of the same pair, without the code for the rest of the witness.
template <class P, bool swapped>
double distance_in_W(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) {
  return witness_in_W<P, swapped>(A, X_WA, B, X_WB).distance;
}

template <class P, bool analytic, bool swapped>
constexpr PairFunctions functions_of() {
  PairFunctions f;
  f.signed_distance = P::signed_distance;
  f.swapped = swapped;
  f.analytic = analytic;
  if constexpr (analytic)
    f.in_W = in_W<P, swapped>, f.distance_in_W = distance_in_W<P, swapped>;
  else {
    f.closer_than = P::closer_than;
    f.distance_lower_bound = P::distance_lower_bound;
  }
  return f;
}

using Table = std::array<std::array<PairFunctions, n_shape_types>, n_shape_types>;

template <class P, bool analytic>
constexpr void set(Table& table) {
  constexpr std::size_t a = static_cast<std::size_t>(P::a), b = static_cast<std::size_t>(P::b);
  table[a][b] = functions_of<P, analytic, false>();
  if (a != b) table[b][a] = functions_of<P, analytic, true>();
}

// GJK and EPA, or a formula for most poses if there is one, with GJK and EPA for the rest.
template <ShapeType a, ShapeType b>
struct BestPair : GenericPair<a, b> {};
template <>
struct BestPair<ShapeType::capsule, ShapeType::cylinder> : CapsuleCylinder {};
template <>
struct BestPair<ShapeType::capsule, ShapeType::cone> : CapsuleCone {};
template <>
struct BestPair<ShapeType::triangle, ShapeType::triangle> : TriangleTriangle {};

template <int cell>
constexpr void set_generic(Table& table, bool with_formulas) {
  constexpr ShapeType a = static_cast<ShapeType>(cell / n_shape_types),
                      b = static_cast<ShapeType>(cell % n_shape_types);
  if constexpr (a == ShapeType::half_space && b != ShapeType::half_space) {
    if (with_formulas) set<HalfSpaceAgainst<b>, true>(table);
  } else if constexpr (a <= b && a != ShapeType::half_space && b != ShapeType::half_space) {
    if (with_formulas)
      set<BestPair<a, b>, false>(table);
    else
      set<GenericPair<a, b>, false>(table);
  }
}

template <int... cells>
constexpr Table generic_table(bool with_formulas, std::integer_sequence<int, cells...>) {
  Table table{};
  (set_generic<cells>(table, with_formulas), ...);
  return table;
}

template <class... Pairs>
constexpr Table with(Table table, const std::tuple<Pairs...>*) {
  (set<Pairs, true>(table), ...);
  return table;
}

using Cells = std::make_integer_sequence<int, n_shape_types * n_shape_types>;
constexpr Table generic = generic_table(false, Cells{});
constexpr Table table =
    with(generic_table(true, Cells{}), static_cast<const AnalyticPairs*>(nullptr));

}  // namespace

const PairFunctions& pair_functions(ShapeType a, ShapeType b) {
  return table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

PairFunctions generic_pair_functions(ShapeType a, ShapeType b) {
  return generic[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

}  // namespace robosim
