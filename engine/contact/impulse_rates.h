// What the impulses z of channels change by, at held classes, with the rows and with the velocities
// that they see: the derivative of class_factor.h's solution in matrices, for callers that have
// more changes than channels.
//
// With dy what the velocities y+ change by at fixed z, and row i's dd_i and dt_i,
//   dz = V dy + sum_i (w_i (dt_i - y+ . dd_i) + p_i (u . dd_i) + c_i (c . dd_i) + f_i U dd_i)
// where w_i goes with what row i asks for, p_i and c_i with how it shares the impulses of the rows
// that clamp, with u = Q_n b_n of springs and c = Q_t b_t of friction (row_basis.h), and U = 1 + V
// L with what moves at fixed impulses of the rows. Compliances, bounds and frictions are held. Of
// rows that depend on each other dz is told but for what moves nothing. Nobody needs dz of channels
// along which nothing can move, half of those of a flat robot: rates are of the channels that are
// asked for.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

struct ImpulseRates {
  static constexpr int at_once = 6;  // changes: the twist of a body

  std::vector<int> asked;  // channels, ascending: set by who asks
  // Whether a last column is asked for: what a sum of the rows' dependences misses
  // (class_factor.h).
  bool of_dependences = false;

  // Row by row, one column for each that is asked for: V and U transposed (channels x width), w, p
  // and c (rows x width). The latter two are empty where they move nothing: rows that clamp take
  // back what is pushed along them, but where they depend on each other and something slides.
  std::vector<double> by_velocity, by_push, by_target, by_share, by_creep;
  std::vector<double> shared, crept;  // u and c, by channels

  void ask_for_all(int channels);
  int width() const { return static_cast<int>(asked.size()) + (of_dependences ? 1 : 0); }

  // dz (at_once x width) += what the rows of a block do, of changes side by side. d: rows x
  // most_block_channels x at_once; target: rows x at_once.
  void add(const RowSolution& solution, const RowBlock& block, const double* d,
           const double* target, double* dz);

 private:
  std::vector<double> wanted_, shares_, creeps_;  // rows x at_once
};

}  // namespace robosim
