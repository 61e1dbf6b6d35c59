// Where discs at rest at their bound push: as vanishing compliance has it, where other rows hold them still and leave the impulses open.
//
// Friction that clamps creeps by Q_t c_t, of the basis of the clamping rows (`row_basis.h`), and a disc at its bound pushes along what of that it sees, as
// it would were it not bounded: mu f_n e,  e = D_t Q_t c_t / |D_t Q_t c_t|. All of them make the block's impulse z, which is known, as nothing moves by how
// it is shared out. With the unknowns c of the basis, f_n = P_n . c, that is
//   c + sum mu (P_n . c) Q^T D_t^T e = Q^T z,
// as many equations as there are independent rows, solved by Newton's method. Friction that slides has its direction from elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/mode_factor.h"

namespace robosim {

class HeldDiscs {
 public:
  // Directions of the tied discs at their bound, in any size, to `push` (rows), from the solution that `factor` has
  // found. Those of a block are left as they are where a row that clamps has a compliance, or none are found.
  void turn(const RowProblem& problem, const ModeFactor& factor, const std::vector<std::uint8_t>& tied, const RowSolution& solution, std::vector<double>& push);

 private:
  // Friction at its bound: mu f_n along a direction, that of the impulse or, where it is held, of T c.
  struct Friction {
    int row = 0;
    double mu = 0;
    bool is_held = false;
    double n[most_block_channels] = {};     // P_n
    double T[2][most_block_channels] = {};  // D_t Q; what creeps are the unknowns from springs_ on
    double e[2] = {1, 0};
  };

  bool gather(const RowProblem& problem, const RowBlock& block, const ModeFactor& factor, const RowBasis::Block& of_block, const std::vector<std::uint8_t>& tied,
              const RowSolution& solution);
  double residual(int unknowns, double* F, double* J);
  bool find(int unknowns);
  // The creeping velocity along one axis of a disc.
  double crept(const double* T, int unknowns) const;

  std::vector<Friction> frictions_;
  int springs_ = 0;
  double z_[most_block_channels] = {}, c_[most_block_channels] = {};  // Q^T z, and c
};

}  // namespace robosim
