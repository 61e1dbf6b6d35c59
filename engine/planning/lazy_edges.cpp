#include "planning/lazy_edges.h"

#include <algorithm>
#include <utility>

#include "base/index.h"

namespace robosim {
LazyEdges::LazyEdges(EdgeChecker& checker, std::vector<int> columns, const double* q,
                     double resolution)
    : checker_(checker),
      columns_(std::move(columns)),
      resolution_(resolution),
      from_(q, q + checker.scene().model().n_q),
      to_(from_) {}

int LazyEdges::add(const double* a, const double* b, Known known) {
  known_.push_back(known);
  ends_.insert(ends_.end(), a, a + columns_.size());
  ends_.insert(ends_.end(), b, b + columns_.size());
  return static_cast<int>(known_.size()) - 1;
}

bool LazyEdges::has_ends(int i, const double* a, const double* b) const {
  const std::size_t n = columns_.size();
  return std::equal(a, a + n, ends(i)) && std::equal(b, b + n, ends(i) + n);
}

int LazyEdges::number_of(const double* a, const double* b) const {
  for (int i = 0; i < static_cast<int>(known_.size()); ++i)
    if (has_ends(i, a, b)) return i;
  return -1;
}

void LazyEdges::set(const double* a, const double* b) {
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    from_[columns_[k]] = a[k];
    to_[columns_[k]] = b[k];
  }
}

int LazyEdges::find(const double* a, const double* b) {
  int i = number_of(a, b);
  if (i < 0) {
    set(a, b);
    i = add(a, b,
            checker_.look(from_.data(), to_.data(), resolution_).free ? Known::seems_free
                                                                      : Known::touches);
  }
  if (proves_at_once_) prove(i, a, b);
  return known(i) == Known::touches ? -1 : i;
}

bool LazyEdges::prove(int i, const double* a, const double* b) {
  if (known(i) != Known::seems_free) return known(i) == Known::is_free;
  int part = number_of(a, b);
  if (part < 0) part = add(a, b, Known::seems_free);
  if (known(part) == Known::seems_free) {
    set(a, b);
    known(part) = checker_.prove(from_.data(), to_.data(), resolution_).free ? Known::is_free
                                                                             : Known::touches;
  }
  if (known(part) == Known::touches) known(i) = Known::touches;  // since a part of it touches
  return known(part) == Known::is_free;
}

}  // namespace robosim
