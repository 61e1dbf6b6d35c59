// F of L = F F^T, what impulses of channels do to their velocities: by blocks of channels, each of
// which has entries in a few columns.
//
// Columns are generalized velocities, transformed by U: with the mass matrix M = U^T U and the
// channels' Jacobian X, F = X U^-1. In a good order of columns U has no entries but where one
// coordinate carries another, so that F has none but at the coordinates that move the block's
// bodies.
#pragma once

#include <cstddef>
#include <vector>

namespace robosim {

struct RowBlock;

struct ChannelFactor {
  // Those of one block.
  struct Part {
    int first = 0, count = 0;        // into places
    std::ptrdiff_t first_value = 0;  // of count x width values, column by column of F
  };

  int columns = 0;
  std::vector<Part> parts;     // of each block
  std::vector<int> places;     // of parts, in each ascending: its columns
  std::vector<double> values;  // of parts

  void clear() { columns = 0, parts.clear(), places.clear(), values.clear(); }
  const int* places_of(std::size_t block) const { return places.data() + parts[block].first; }
  const double* values_of(std::size_t block) const {
    return values.data() + parts[block].first_value;
  }

  // F of a matrix L that is known, as of a problem made by hand: as many columns as its rank, and
  // each block has entries in all.
  void factor(const std::vector<double>& L, int channels, const std::vector<RowBlock>& blocks);

  // a = F^T z and y += F a.
  void gather(const std::vector<RowBlock>& blocks, const double* z, std::vector<double>& a) const;
  void add_motion(const std::vector<RowBlock>& blocks, const double* a, double* y) const;
};

}  // namespace robosim
