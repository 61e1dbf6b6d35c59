// Rates of the channel impulses z with the rows and the velocities of channels, at fixed modes:
// the derivative of the solution in class_factor.h as matrices, for callers with more changes
// than channels.
//
// With dy the change of the velocities y+ at fixed z, and row i's changes dd_i and dt_i,
//   dz = V dy + sum_i (w_i (dt_i - y+ . dd_i) + p_i (u . dd_i) + c_i (c . dd_i) + f_i U dd_i)
// Here w_i is the rate with the target of row i. p_i and c_i are the rates with the sharing of
// impulses among active rows. u = Q_n b_n belongs to springs, and c = Q_t b_t to friction
// (row_basis.h). U = 1 + V L is the rate at fixed impulses of the rows. Compliances, bounds and
// friction coefficients are fixed. For linearly dependent rows dz is correct up to changes that
// move nothing. Channels along which nothing can move, half of those of a flat robot, need no dz:
// rates are computed for the requested channels only.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

struct ImpulseRates {
  static constexpr int at_once = 6;  // number of changes: the twist of a body

  std::vector<int> asked;  // requested channels, ascending; set by the caller
  // True to request a last column: the violation of a sum of the rows' dependences
  // (class_factor.h).
  bool of_dependences = false;

  // Row by row, with one column per request: V and U transposed (channels x width), w, p and c
  // (rows x width). p and c are empty if they move nothing. They move something only if linearly
  // dependent rows share impulses and friction slides, as active rows otherwise compensate impulses
  // along them.
  std::vector<double> by_velocity, by_push, by_target, by_share, by_creep;
  std::vector<double> shared, crept;  // u and c, by channels

  void ask_for_all(int channels);
  int width() const { return static_cast<int>(asked.size()) + (of_dependences ? 1 : 0); }

  // Add to dz (at_once x width) the effect of changes of a block's rows, side by side. d: rows x
  // most_block_channels x at_once; target: rows x at_once.
  void add(const RowSolution& solution, const RowBlock& block, const double* d,
           const double* target, double* dz);

 private:
  std::vector<double> wanted_, shares_, creeps_;  // rows x at_once
};

}  // namespace robosim
