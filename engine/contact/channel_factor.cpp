#include "contact/channel_factor.h"

#include <numeric>

#include "base/index.h"
#include "base/linalg/cholesky.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"
#include "contact/rows.h"

namespace robosim {

void ChannelFactor::factor(const std::vector<double>& L, int channels,
                           const std::vector<RowBlock>& blocks) {
  SemidefiniteFactor basis;
  columns = basis.factor(L.data(), channels);
  places.resize(columns);
  std::iota(places.begin(), places.end(), 0);
  parts.clear();
  values.clear();
  for (const RowBlock& block : blocks) {
    parts.push_back({0, columns, static_cast<std::ptrdiff_t>(values.size())});
    for (int k = 0; k < columns; ++k)
      for (int c = 0; c < block.width; ++c)
        values.push_back(basis.F()[(block.first_channel + c) * columns + k]);
  }
}

void ChannelFactor::gather(const std::vector<RowBlock>& blocks, const double* z,
                           std::vector<double>& a) const {
  make_zeros(a, columns);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    with_width(blocks[b].width, [&](auto width) {
      const int* const place = places_of(b);
      const double *column = values_of(b), *const push = z + blocks[b].first_channel;
      for (int k = 0; k < parts[b].count; ++k, column += width)
        a[place[k]] += dot(column, push, width);
    });
}

void ChannelFactor::add_motion(const std::vector<RowBlock>& blocks, const double* a,
                               double* y) const {
  for (std::size_t b = 0; b < blocks.size(); ++b)
    with_width(blocks[b].width, [&](auto width) {
      const int* const place = places_of(b);
      const double* column = values_of(b);
      double sum[width] = {};
      for (int k = 0; k < parts[b].count; ++k, column += width)
        add_scaled<width>(a[place[k]], column, sum);
      add_scaled<width>(1, sum, y + blocks[b].first_channel);
    });
}

}  // namespace robosim
