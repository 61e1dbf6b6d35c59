#include "rollout/simulator.h"

#include <algorithm>

#include "base/error.h"
#include "base/index.h"
#include "step/step_signature.h"

namespace robosim {
namespace {

StepOptions of_substeps(StepOptions options, int substeps) {
  if (substeps < 1) throw InputError(message("substeps is ", substeps, "; there is at least one"));
  options.dt /= substeps;
  return options;
}

void add(const std::vector<double>& x, std::vector<double>& to) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += x[k];
}

// All but what is of the state.
void add_drives(const StepGradient& x, StepGradient& to) {
  add(x.tau, to.tau), add(x.q_target, to.q_target), add(x.v_target, to.v_target);
}
void add_parameters(const StepGradient& x, StepGradient& to) {
  to.parameters.add(x.parameters);
  to.is_one_sided |= x.is_one_sided;
}

}  // namespace

void RolloutReport::take(const StepReport& r, int step) {
  status = std::max(status, r.status), residual = std::max(residual, r.residual);
  contacts = r.contacts, rows = r.rows, islands = r.islands;
  class_changes += r.class_changes, pivots += r.pivots, coupled_bounces += r.coupled_bounces;
  attempt = std::max(attempt, r.attempt);
  if (r.status >= StepStatus::relaxed && first_unsolved < 0) first_unsolved = step;
}

StepControl RolloutControls::at(const Model& m, int step) const {
  const auto row = [&](const double* rows, int width) { return rows ? rows + static_cast<std::ptrdiff_t>(step) * width : nullptr; };
  return {row(tau, m.n_v), row(q_target, m.n_q), row(v_target, m.n_v)};
}

RolloutControls RolloutControls::from(const Model& m, int step) const {
  const StepControl first = at(m, step);
  return {first.tau, first.q_target, first.v_target};
}

Simulator::Simulator(const World& world, StepOptions options, int substeps)
    : stepper_(std::make_unique<Stepper>(world, of_substeps(options, substeps))),
      substeps_(substeps),
      q_(at((substeps + 1) * world.model().n_q)),
      v_(at((substeps + 1) * world.model().n_v)),
      q_bar_(at(world.model().n_v)),
      v_bar_(q_bar_) {}

void Simulator::exchange_steppers() {
  if (!waiting_) waiting_ = std::make_unique<Stepper>(world(), stepper_->options());
  std::swap(stepper_, waiting_);
}

void Simulator::step(const double* q, const double* v, const StepControl& control, double* q_next, double* v_next, RolloutReport& report, int number) {
  for (int i = 0; i < substeps_; ++i) report.take(stepper_->step(i ? q_next : q, i ? v_next : v, control, q_next, v_next), number);
}

// All substeps, keeping where each begins, and the signatures of all.
void Simulator::take_again(const double* q, const double* v, const StepControl& control, std::vector<int>* signature) {
  const Model& m = world().model();
  std::copy_n(q, m.n_q, q_.data()), std::copy_n(v, m.n_v, v_.data());
  if (signature) signature->clear();
  for (int i = 0; i < substeps_; ++i) {
    const StepReport report = stepper_->step(q_.data() + at(i * m.n_q), v_.data() + at(i * m.n_v), control, q_.data() + at((i + 1) * m.n_q), v_.data() + at((i + 1) * m.n_v));
    if (!signature) continue;
    const std::vector<int> own = step_signature(*stepper_, report.islands, report.status);
    signature->insert(signature->end(), own.begin(), own.end());
  }
}

// After take_again. Exact, or as the options say.
void Simulator::go_back(const StepControl& control, const double* q_next_bar, const double* v_next_bar, bool is_exact, StepGradient& gradient) {
  const Model& m = world().model();
  const auto back = [&](int i, const double* q_bar, const double* v_bar, StepGradient& to) {
    const auto gradient_of = is_exact ? &Stepper::exact_vjp : &Stepper::vjp;
    (*stepper_.*gradient_of)(q_.data() + at(i * m.n_q), v_.data() + at(i * m.n_v), control, q_bar, v_bar, to);
  };
  back(substeps_ - 1, q_next_bar, v_next_bar, gradient);
  for (int i = substeps_ - 2; i >= 0; --i) {
    // The stepper knows the step that it took last: this one once more.
    q_bar_ = gradient.q, v_bar_ = gradient.v;
    stepper_->step(q_.data() + at(i * m.n_q), v_.data() + at(i * m.n_v), control, q_.data() + at((i + 1) * m.n_q), v_.data() + at((i + 1) * m.n_v));
    back(i, q_bar_.data(), v_bar_.data(), one_);
    gradient.q = one_.q, gradient.v = one_.v;
    add_drives(one_, gradient), add_parameters(one_, gradient);
  }
  *gradient.parameters.of("dt") /= substeps_;  // of the whole step
}

void Simulator::vjp(const double* q, const double* v, const StepControl& control, const double* q_next_bar, const double* v_next_bar,
                    StepGradient& gradient) {
  take_again(q, v, control);
  go_back(control, q_next_bar, v_next_bar, false, gradient);
}

bool Simulator::jvp(const double* q, const double* v, const StepControl& control, const StepGradient& direction, double* q_next, double* v_next) {
  const Model& m = world().model();
  one_ = direction;
  *one_.parameters.of("dt") /= substeps_;  // of the whole step
  std::copy_n(q, m.n_q, q_.data()), std::copy_n(v, m.n_v, v_.data());
  bool is_one_sided = false;
  for (int i = 0; i < substeps_; ++i) {
    const double *const q_i = q_.data() + at(i * m.n_q), *const v_i = v_.data() + at(i * m.n_v);
    stepper_->step(q_i, v_i, control, q_.data() + at((i + 1) * m.n_q), v_.data() + at((i + 1) * m.n_v));
    is_one_sided |= stepper_->jvp(q_i, v_i, control, one_, q_bar_.data(), v_bar_.data());
    one_.q = q_bar_, one_.v = v_bar_;
  }
  std::copy(q_bar_.begin(), q_bar_.end(), q_next), std::copy(v_bar_.begin(), v_bar_.end(), v_next);
  return is_one_sided;
}

bool Simulator::jacobians(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out) {
  const Model& m = world().model();
  const std::size_t n = at(m.n_v);
  if (substeps_ == 1) return stepper_->step(q, v, control, q_.data() + at(m.n_q), v_.data() + n), stepper_->jacobians(q, v, control, out);
  JacobianBlocks before = before_.resize(m), own = own_.resize(m);
  const std::size_t selected = out.parameters ? at(out.selection->size()) : 0;
  if (out.parameters) {
    own_parameters_.resize(2 * n * selected), before_parameters_.resize(2 * n * selected);
    own.parameters = own_parameters_.data(), before.parameters = before_parameters_.data();
    own_selection_ = *out.selection, own.selection = &own_selection_;
    for (std::size_t k = 0; k < own_selection_.number.size(); ++k)  // dt is that of the whole step
      if (own_selection_.number[k] == world().parameters().place("dt", 0)) own_selection_.weight[k] /= substeps_;
  }
  std::copy_n(q, m.n_q, q_.data()), std::copy_n(v, m.n_v, v_.data());
  bool is_one_sided = false;
  for (int i = 0; i < substeps_; ++i) {
    const double *const q_i = q_.data() + at(i * m.n_q), *const v_i = v_.data() + at(i * m.n_v);
    stepper_->step(q_i, v_i, control, q_.data() + at((i + 1) * m.n_q), v_.data() + at((i + 1) * m.n_v));
    is_one_sided |= stepper_->jacobians(q_i, v_i, control, own);
    for (const auto block : {&JacobianBlocks::q, &JacobianBlocks::v, &JacobianBlocks::tau, &JacobianBlocks::q_target, &JacobianBlocks::v_target, &JacobianBlocks::parameters}) {
      double* const to = out.*block;
      if (!to) continue;
      const bool is_of_state = block == &JacobianBlocks::q || block == &JacobianBlocks::v;
      const std::size_t columns = block == &JacobianBlocks::q_target ? at(m.n_q) : block == &JacobianBlocks::parameters ? selected : n;
      // What the steps before did, as this one passes it on, and of a drive what this one does itself.
      if (i > 0) std::copy_n(to, 2 * n * columns, before.*block);
      if (i == 0 || !is_of_state) std::copy_n(own.*block, 2 * n * columns, to);
      else std::fill_n(to, 2 * n * columns, 0.0);
      for (std::size_t r = 0; i > 0 && r < 2 * n; ++r)
        for (std::size_t k = 0; k < 2 * n; ++k) {
          const double by = k < n ? own.q[r * n + k] : own.v[r * n + k - n];
          if (by == 0) continue;
          for (std::size_t c = 0; c < columns; ++c) to[r * columns + c] += by * (before.*block)[k * columns + c];
        }
    }
  }
  return is_one_sided;
}

void Simulator::rollout(const KeptStates& kept, int begin, int end, double* q, double* v, const RolloutControls& controls, RolloutReport& report) {
  const Model& m = world().model();
  for (int i = begin; i < end; ++i) {
    const std::ptrdiff_t to = i / kept.interval + 1, from = i % kept.interval ? to : to - 1;
    step(q + from * m.n_q, v + from * m.n_v, controls.at(m, i), q + to * m.n_q, v + to * m.n_v, report, i);
  }
}

void Simulator::rollout_jacobians(const KeptStates& kept, int row, const double* q, const double* v, const RolloutControls& controls, const JacobianBlocks& out,
                                  bool* is_one_sided) {
  const Model& m = world().model();
  const int first = kept.before(row), end = kept.before(row + 1);
  q_part_.assign(q + static_cast<std::ptrdiff_t>(row) * m.n_q, q + static_cast<std::ptrdiff_t>(row + 1) * m.n_q);
  v_part_.assign(v + static_cast<std::ptrdiff_t>(row) * m.n_v, v + static_cast<std::ptrdiff_t>(row + 1) * m.n_v);
  for (int i = first; i < end; ++i) {
    is_one_sided[i] = jacobians(q_part_.data(), v_part_.data(), controls.at(m, i), out.of(m, i));
    std::copy_n(q_.data() + at(substeps_ * m.n_q), m.n_q, q_part_.data()), std::copy_n(v_.data() + at(substeps_ * m.n_v), m.n_v, v_part_.data());
  }
}

void Simulator::rollout_vjp(const KeptStates& kept, int begin, int end, const double* q, const double* v, const RolloutControls& controls,
                            const double* q_bar, const double* v_bar, StepGradient& gradient, double* tau, double* q_target, double* v_target) {
  const Model& m = world().model();
  RolloutReport again;
  for (int row = end - 1; row >= begin; --row) {
    const std::ptrdiff_t of_q = static_cast<std::ptrdiff_t>(row) * m.n_q, of_v = static_cast<std::ptrdiff_t>(row) * m.n_v;
    const int first = kept.before(row), count = kept.before(row + 1) - first;
    q_part_.resize(at(count * m.n_q)), v_part_.resize(at(count * m.n_v));
    std::copy_n(q + of_q, m.n_q, q_part_.data()), std::copy_n(v + of_v, m.n_v, v_part_.data());
    rollout({count - 1, 1}, 0, count - 1, q_part_.data(), v_part_.data(), controls.from(m, first), again);
    // What was taken last on the way there is not taken again: it waits while the one behind it is.
    const int waiting = count > 1 && substeps_ == 1 ? first + count - 2 : -1;
    if (waiting >= 0) exchange_steppers();
    for (int i = first + count - 1; i >= first; --i) {
      const std::ptrdiff_t to_q = static_cast<std::ptrdiff_t>(i) * m.n_q, to_v = static_cast<std::ptrdiff_t>(i) * m.n_v;
      const double *const q_i = q_part_.data() + at((i - first) * m.n_q), *const v_i = v_part_.data() + at((i - first) * m.n_v);
      if (i == waiting) {
        exchange_steppers();
        stepper_->vjp(q_i, v_i, controls.at(m, i), gradient.q.data(), gradient.v.data(), whole_);
      } else {
        vjp(q_i, v_i, controls.at(m, i), gradient.q.data(), gradient.v.data(), whole_);
      }
      gradient.q = whole_.q, gradient.v = whole_.v;
      add_parameters(whole_, gradient);
      if (tau) std::copy(whole_.tau.begin(), whole_.tau.end(), tau + to_v);
      if (q_target) std::copy(whole_.q_target.begin(), whole_.q_target.end(), q_target + to_q);
      if (v_target) std::copy(whole_.v_target.begin(), whole_.v_target.end(), v_target + to_v);
    }
    for (int k = 0; k < m.n_v; ++k) gradient.q[at(k)] += q_bar[of_v + k], gradient.v[at(k)] += v_bar[of_v + k];
  }
}

}  // namespace robosim
