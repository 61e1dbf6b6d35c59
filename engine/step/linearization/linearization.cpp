#include "step/linearization/linearization.h"

#include <algorithm>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/linearization/torn_rows.h"

namespace robosim {
namespace {

// True if a correction cancels an impulse that it corrects, and therefore depends on it.
bool ends_impulses(const StepIsland& corrections) {
  return corrections.solved->follows_lower_bounds(corrections.problem, corrections.solution);
}

}  // namespace

// Compute what all derivatives of one step share: derivatives of the contacts' geometry, and
// factors of the rows. Without `everything`, derivatives with respect to shapes and to objects that
// no joint moves are left out, as well as the test for torn rows. Jacobians of state and control do
// not need the former and perform the test themselves.
void Linearization::derive(const StepInput& in, bool everything) {
  shared_.is_there = true;
  shared_.has_everything = everything;
  shared_.one_sided = OneSided::no;
  // Derivatives of the contacts' geometry.
  if (shared_.manifolds.size() < step_.manifolds.size())
    shared_.manifolds.resize(step_.manifolds.size());
  for (std::size_t i = 0; i < step_.manifolds.size(); ++i) {
    const SceneQuery::PairManifold& pair = step_.manifolds[i];
    ManifoldDerivatives& rates = shared_.manifolds[i];
    const SceneObject &A = step_.object(pair.a), &B = step_.object(pair.b);
    const DerivativesWanted wanted{{everything || A.body > 0, everything || B.body > 0},
                                   everything};
    manifold_derivatives(pair.manifold, A.geometry.body(), step_.query.X_WO(pair.a), pair.piece_a,
                         B.geometry.body(), step_.query.X_WO(pair.b), pair.piece_b, rates, wanted);
    for (int k = 0; k < pair.manifold.n_points; ++k)
      shared_.one_sided |= one_sided_if(rates.points[k].one_sided, OneSided::feature);
  }
  // Factors of the rows of islands, impacts and corrections.
  const auto differentiate = [&](StepIsland& island) {
    shared_.one_sided |=
        island.solved->differentiate(island.problem, island.sizes, island.solution);
    shared_.one_sided |=
        one_sided_if(everything && is_torn(step_, island, in, vjp_, row_), OneSided::torn);
  };
  for (int i = 0; i < step_.n_islands; ++i) {
    differentiate(step_.islands[i]);
    Impacts& impacts = step_.impacts[i];
    for (int n = 0; n < impacts.n; ++n) impacts.each[n].for_each_solved(differentiate);
  }
  if (!step_.has_corrections()) return;
  step_.exchange_corrections();
  for (std::size_t k = 0; k < step_.corrected_islands.size(); ++k) {
    differentiate(step_.corrections[k]);
  }
  step_.exchange_corrections();
}

void Linearization::exact_vjp(const StepInput& in, const TangentView& next_bar,
                              StepGradient& gradient) {
  const std::size_t n = step_.size();
  gradient.set_zero(*step_.world);
  if (n == 0) return;
  if (step_.is_diverged) {
    gradient.q.assign(next_bar.q, next_bar.q + n);
    gradient.v.assign(next_bar.v, next_bar.v + n);
    gradient.one_sided = OneSided::diverged;
    return;
  }
  if (!shared_.has_everything) derive(in, true);
  gradient.one_sided = shared_.one_sided;
  vjp_.next_state_vjp(in, next_bar, gradient);
}

void Linearization::vjp(const StepInput& in, const TangentView& next_bar, StepGradient& gradient) {
  exact_vjp(in, next_bar, gradient);
  if (step_.options.complementarity_aware == ComplementarityAwareId("none") || step_.is_diverged)
    return;
  aware_.choose(
      vjp_.velocity_bar(), [&](StepGradient& other) { exact_vjp(in, next_bar, other); }, gradient);
}

// True if the step has impacts, or corrections that cancel the impulses they correct. Matrices
// cover neither.
bool Linearization::has_gradients_alone() const {
  return step_.has_impacts() ||
         std::any_of(step_.corrections.begin(),
                     step_.corrections.begin() +
                         static_cast<std::ptrdiff_t>(step_.corrected_islands.size()),
                     ends_impulses);
}

// Call use(i, gradient) for each entry i of q_next and v_next.
template <class Use>
void Linearization::for_each_row(const StepInput& in, const Use& use) {
  const std::size_t n = step_.size();
  make_zeros(unit_, n);
  make_zeros(zero_, n);
  for (std::size_t i = 0; i < 2 * n; ++i) {
    unit_[i % n] = 1;
    exact_vjp(in, {(i < n ? unit_ : zero_).data(), (i < n ? zero_ : unit_).data()}, row_);
    unit_[i % n] = 0;
    use(i, row_);
  }
}

OneSided Linearization::jvp(const StepInput& in, const StepGradient& direction,
                            const TangentSpan& next) {
  const std::size_t n = step_.size();
  if (n == 0) return OneSided::no;
  if (step_.is_diverged) {
    std::copy(direction.q.begin(), direction.q.end(), next.q);
    std::copy(direction.v.begin(), direction.v.end(), next.v);
    return OneSided::diverged;
  }
  if (!shared_.has_everything) derive(in, true);
  if (has_gradients_alone()) {
    for_each_row(in, [&](std::size_t i, const StepGradient& row) {
      double* const to = i < n ? next.q + i : next.v + (i - n);
      *to = along(row, direction);
    });
  } else {
    jvp_.jvp(in, direction, next);
  }
  return shared_.one_sided;
}

OneSided Linearization::jacobians(const StepInput& in, const JacobianBlocks& out) {
  if (step_.size() == 0) return OneSided::no;
  const bool by_gradients = step_.is_diverged || has_gradients_alone();
  if (!step_.is_diverged && !(out.parameters ? shared_.has_everything : shared_.is_there))
    derive(in, by_gradients || out.parameters);
  if (!by_gradients) {
    shared_.one_sided |= jacobians_.fill(in, out);
    return shared_.one_sided;
  }
  for_each_row(in, [&](std::size_t i, const StepGradient& row) {
    const auto put = [&](const std::vector<double>& x, double* block) {
      if (block) std::copy(x.begin(), x.end(), block + i * x.size());
    };
    put(row.q, out.q);
    put(row.v, out.v);
    put(row.tau, out.tau);
    put(row.q_target, out.q_target);
    put(row.v_target, out.v_target);
    if (out.parameters)
      out.selection->read(row.parameters, out.parameters + i * at(out.selection->size()));
  });
  return step_.is_diverged ? OneSided::diverged : shared_.one_sided;
}

}  // namespace robosim
