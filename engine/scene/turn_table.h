// Table of the joint angles at which two colliders of a model are known to be apart, whatever the
// other joints do.
//
// Arms have pairs of links that are near each other in every configuration, such as the upper arm
// beside the base, or the wrist beside the forearm. Bounds never separate such pairs, so exact
// shapes are tested in every configuration. If only one or two revolute joints are between two
// colliders, their relative pose is a point of a circle or a torus. Its free part is found once, in
// the way that edges are proven (planning/edge_check.h). A box of angles is free if, for the
// distance d at its center and its half-widths D_j,
//
//   d > sum_j D_j rho_j   or, with the plane of normal n that separates the two,
//   d > sum_j D_j s_j + sum_j rho*_j D_j (D_j / 2 + sum_{i above j} D_i)
//
// where rho_j is the largest distance from the axis of a point that the joint moves, s_j the
// largest speed of such a point along n per angle, and rho*_j = rho_j + sum_{i below j} D_i rho_i;
// see planning/motion_bound.h. Otherwise the box is halved, coarse to fine, down to a cell. The
// table covers whole turns, so it is valid for any limits. Distances are those of shapes, also
// where shapes stand for bodies, which are no nearer. Cost: up to `most_boxes` exact distances per
// pair, a few milliseconds for hulls.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/model.h"

namespace robosim {

struct TurnTable {
  static constexpr int cells = 128;  // per turn

  int n = 1;                  // number of joints: one or two
  int q_index[2] = {-1, -1};  // their indices in q
  // One bit per cell. A row is the turn of the last joint. Rows are the cells of the first of two
  // joints, if there are two.
  std::vector<std::uint64_t> free;

  // Return true if all angles from lower to upper, of each joint, are known to be free.
  bool is_free(const double* lower, const double* upper) const;
  // Return true if the pair is known to be free at the configuration q, and wherever each joint
  // deviates from it by at most its entry of `span`, if given.
  bool is_free_at(const double* q, const double* span = nullptr) const;
  bool is_free_everywhere() const;
};

// Make the table of each pair of colliders. It is null if other joints or more than two are between
// them, or if nothing is free. least: distance that free angles guarantee [m].
std::vector<std::shared_ptr<const TurnTable>> turn_tables(
    const Model& model, const std::vector<std::pair<int, int>>& pairs, double least,
    int most_boxes);

}  // namespace robosim
