// Table of the functions that compute a pair of shape types. Pair functions support one order of
// arguments and work in A's frame. The table covers the other order, and query.cpp transforms to
// and from W.
//
// A new analytic pair takes one file, pairs/a_b.h with
//
//   struct AB {
//     static constexpr ShapeType a = ..., b = ...;
//     static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&);
//   };
//
// with everything in A's frame, and its name in the list of pair_table.cpp. It may also define
// signed_distance_in_W(A, X_WA, B, X_WB) if A's frame is of no advantage.
#pragma once

#include "geometry/query.h"

namespace robosim {

struct PairFunctions {
  Witness (*signed_distance)(const Shape& A, const Shape& B, const SE3d& X_AB,
                             PairCache& cache) = nullptr;
  bool swapped = false;   // arguments are (B, A), also of the next two functions
  bool analytic = false;  // in closed form; the cache is not used
  // Pairs that are not analytic.
  bool (*closer_than)(double margin, const Shape& A, const Shape& B, const SE3d& X_AB,
                      PairCache& cache) = nullptr;
  double (*distance_lower_bound)(double enough, const Shape& A, const Shape& B, const SE3d& X_AB,
                                 PairCache& cache) = nullptr;
  // Analytic pairs, with everything in W and in the given order of arguments, so that the compiler
  // optimizes the pair as a whole.
  Witness (*in_W)(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) = nullptr;
  double (*distance_in_W)(const Shape& A, const SE3d& X_WA, const Shape& B,
                          const SE3d& X_WB) = nullptr;
};

// X_AB = X_WA^-1 X_WB.
inline SE3d relative(const SE3d& X_WA, const SE3d& X_WB) {
  const Mat3d R_AW = transpose(X_WA.R);
  return {R_AW * X_WB.R, R_AW * (X_WB.p - X_WA.p)};
}

// Functions for shapes of type `a` and `b`.
const PairFunctions& pair_functions(ShapeType a, ShapeType b);

// GJK and EPA for the pair, even if it has an analytic function; nullptrs with a half-space. For
// tests.
PairFunctions generic_pair_functions(ShapeType a, ShapeType b);

}  // namespace robosim
