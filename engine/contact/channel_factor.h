// Factor F of the Delassus operator L = F F^T, by blocks of channels, each of which has entries in
// a few columns.
//
// Columns are generalized velocities, transformed by U: with the mass matrix M = U^T U and the
// channels' Jacobian X, F = X U^-1. In a good order of columns, U is sparse: it couples a
// coordinate only to those that carry it. F then has entries only at the coordinates that move the
// block's bodies.
#pragma once

#include <cstddef>
#include <vector>

namespace robosim {

struct RowBlock;

struct ChannelFactor {
  // Columns and values of one block.
  struct Part {
    int first = 0, count = 0;        // range in places
    std::ptrdiff_t first_value = 0;  // of count x width values, column by column of F
  };

  int columns = 0;
  std::vector<Part> parts;     // of each block
  std::vector<int> places;     // of each part: its columns, ascending
  std::vector<double> values;  // of each part

  void clear() {
    columns = 0;
    parts.clear();
    places.clear();
    values.clear();
  }
  const int* places_of(std::size_t block) const { return places.data() + parts[block].first; }
  const double* values_of(std::size_t block) const {
    return values.data() + parts[block].first_value;
  }

  // Factor a known matrix L, as of a problem made by hand. F has as many columns as the rank of L,
  // and each block has entries in all columns.
  void factor(const std::vector<double>& L, int channels, const std::vector<RowBlock>& blocks);

  // Compute a = F^T z, and y += F a.
  void gather(const std::vector<RowBlock>& blocks, const double* z, std::vector<double>& a) const;
  void add_motion(const std::vector<RowBlock>& blocks, const double* a, double* y) const;
};

}  // namespace robosim
