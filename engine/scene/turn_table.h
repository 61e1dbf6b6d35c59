// Where two colliders of a model are known to be apart, whatever else the robot does: a table over
// the angles of the joints between them.
//
// Arms have pairs that are near each other wherever they go, such as the upper arm beside the base,
// or the wrist beside the forearm. Bounds never tell these apart, so exact shapes are asked in
// every configuration. Where one or two joints that turn about an axis are between the two, how
// they lie to each other is a point of a circle or a torus, and its free part is found once, as
// edges are proven (planning/edge_check.h). A box of angles is free when, for the distance d in its
// middle and its half-widths D_j,
//
//   d > sum_j D_j rho_j   or, with the plane of normal n that keeps the two apart,
//   d > sum_j D_j s_j + sum_j rho*_j D_j (D_j / 2 + sum_{i above j} D_i)
//
// where rho_j is the largest distance from the axis of a point that the joint moves, s_j the
// largest speed of one along n per angle, and rho*_j = rho_j + sum_{i below j} D_i rho_i; see
// planning/motion_bound.h. Else it is halved, coarse to fine, down to a cell. Whole turns are
// taken, so the table holds whatever the limits say. Distances are those of shapes, also where they
// stand for bodies, which are no nearer. Cost: up to `most_boxes` exact distances a pair, a few
// milliseconds for hulls.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/model.h"

namespace robosim {

struct TurnTable {
  static constexpr int cells = 128;  // of a turn

  int n = 1;                  // joints: one or two
  int q_index[2] = {-1, -1};  // their entries of q
  // a bit for each cell, of the last joint's turn in a row; rows are cells of the first of two.
  std::vector<std::uint64_t> free;

  // Whether all angles from lower to upper are known to be free, of each joint.
  bool is_free(const double* lower, const double* upper) const;
  // At the configuration q, and wherever each joint strays from it by at most its entry of `span`,
  // if there is one.
  bool is_free_at(const double* q, const double* span = nullptr) const;
  bool is_free_everywhere() const;
};

// For each pair of colliders its table, or none: where other joints are between them, or more than
// two, or nothing is free. least: what they are at least apart where it says free [m].
std::vector<std::shared_ptr<const TurnTable>> turn_tables(
    const Model& model, const std::vector<std::pair<int, int>>& pairs, double least,
    int most_boxes);

}  // namespace robosim
