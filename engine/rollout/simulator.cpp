#include "rollout/simulator.h"

#include <algorithm>

#include "base/error.h"
#include "base/index.h"
#include "step/step_signature.h"

namespace robosim {
namespace {

StepOptions of_substeps(StepOptions options, int substeps) {
  if (substeps < 1) throw InputError(message("substeps is ", substeps, "; it must be at least 1"));
  options.dt /= substeps;
  return options;
}

void add(const std::vector<double>& x, std::vector<double>& to) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += x[k];
}

// Add the gradients of two steps with respect to controls, and with respect to parameters.
void add_drives(const StepGradient& x, StepGradient& to) {
  ControlParts::for_each([&](auto part) { add(part(x), part(to)); });
}
void add_parameters(const StepGradient& x, StepGradient& to) {
  to.parameters.add(x.parameters);
  to.one_sided |= x.one_sided;
}

}  // namespace

void RolloutReport::take(const StepReport& r, int step) {
  status = std::max(status, r.status);
  residual = std::max(residual, r.residual);
  contacts = r.contacts;
  rows = r.rows;
  islands = r.islands;
  class_changes += r.class_changes;
  pivots += r.pivots;
  coupled_bounces += r.coupled_bounces;
  untimed_bounces += r.untimed_bounces;
  attempt = std::max(attempt, r.attempt);
  if (r.status >= StepStatus::relaxed && first_unsolved < 0) first_unsolved = step;
}

Simulator::Simulator(const World& world, StepOptions options, int substeps)
    : stepper_(std::make_unique<Stepper>(world, of_substeps(options, substeps))),
      substeps_(substeps),
      layout_(StateLayout::of(world.model())),
      control_layout_(ControlLayout::of(world.model())),
      at_(layout_, substeps + 1),
      part_(layout_, 0),
      bar_(StateLayout::tangent(world.model()), 1) {}

void Simulator::exchange_steppers() {
  if (!waiting_) waiting_ = std::make_unique<Stepper>(world(), stepper_->options());
  std::swap(stepper_, waiting_);
}

void Simulator::step(const StateView& state, const ControlView& control, const StateSpan& next,
                     RolloutReport& report, int number) {
  taken_ = 0;
  for (int i = 0; i < substeps_; ++i)
    report.take(stepper_->step(i ? next : state, control, next), number);
}

std::uint64_t Simulator::take(const StateView& state, const ControlView& control,
                              RolloutReport& report) {
  take(state, control, report, nullptr);
  return taken_;
}

// Take all substeps, and store the start of each and the signatures of all.
void Simulator::take(const StateView& state, const ControlView& control, RolloutReport& report,
                     std::vector<int>* signature) {
  copy(state, layout_, at_[0]);
  if (signature) signature->clear();
  for (int i = 0; i < substeps_; ++i) {
    const StepReport own = stepper_->step(at_[i], control, at_[i + 1]);
    report.take(own, 0);
    if (!signature) continue;
    const std::vector<int> numbers = step_signature(*stepper_, own.islands, own.status);
    signature->insert(signature->end(), numbers.begin(), numbers.end());
  }
  taken_ = ++last_taken_;
  substep_ = substeps_ - 1;
}

// Return the stepper with the results of a substep. The stepper holds the substep that it took
// last; any other substep is taken again.
Stepper& Simulator::stepper_at(int substep, const ControlView& control) {
  if (substep != substep_) stepper_->step(at_[substep], control, at_[substep + 1]);
  substep_ = substep;
  return *stepper_;
}

// Gradient from the last substep to the first. Exact, or according to the options.
void Simulator::go_back(const ControlView& control, const TangentView& next_bar, bool is_exact,
                        StepGradient& gradient) {
  const auto back = [&](int i, const TangentView& bar, StepGradient& to) {
    const auto gradient_of = is_exact ? &Stepper::exact_vjp : &Stepper::vjp;
    (stepper_at(i, control).*gradient_of)(at_[i], control, bar, to);
  };
  back(substeps_ - 1, next_bar, gradient);
  for (int i = substeps_ - 2; i >= 0; --i) {
    bar_.q = gradient.q;
    bar_.v = gradient.v;
    back(i, bar_[0], one_);
    gradient.q = one_.q;
    gradient.v = one_.v;
    add_drives(one_, gradient);
    add_parameters(one_, gradient);
  }
  *gradient.parameters.of("dt") /= substeps_;  // dt is that of the whole step
}

void Simulator::vjp(const ControlView& control, const TangentView& next_bar,
                    StepGradient& gradient) {
  go_back(control, next_bar, false, gradient);
}

OneSided Simulator::jvp(const ControlView& control, const StepGradient& direction,
                        const TangentSpan& next) {
  one_ = direction;
  *one_.parameters.of("dt") /= substeps_;  // dt is that of the whole step
  OneSided one_sided = OneSided::no;
  for (int i = 0; i < substeps_; ++i) {
    one_sided |= stepper_at(i, control).jvp(at_[i], control, one_, bar_[0]);
    one_.q = bar_.q;
    one_.v = bar_.v;
  }
  copy(bar_[0], bar_.layout, next);
  return one_sided;
}

OneSided Simulator::jacobians(const ControlView& control, const JacobianBlocks& out) {
  if (substeps_ == 1) return stepper_at(0, control).jacobians(at_[0], control, out);
  const Model& m = world().model();
  const std::size_t n = at(m.n_v);
  JacobianBlocks before = before_.resize(m), own = own_.resize(m);
  const std::size_t selected = out.parameters ? at(out.selection->size()) : 0;
  // Storage for the parameters' Jacobians.
  if (out.parameters) {
    own_parameters_.resize(2 * n * selected);
    before_parameters_.resize(2 * n * selected);
    own.parameters = own_parameters_.data();
    before.parameters = before_parameters_.data();
    own_selection_ = *out.selection;
    own.selection = &own_selection_;
    for (std::size_t k = 0; k < own_selection_.number.size(); ++k)  // dt is that of the whole step
      if (own_selection_.number[k] == world().parameters().place("dt", 0))
        own_selection_.weight[k] /= substeps_;
  }
  OneSided one_sided = OneSided::no;
  for (int i = 0; i < substeps_; ++i) {
    one_sided |= stepper_at(i, control).jacobians(at_[i], control, own);
    for (const auto block :
         {&JacobianBlocks::q, &JacobianBlocks::v, &JacobianBlocks::tau, &JacobianBlocks::q_target,
          &JacobianBlocks::v_target, &JacobianBlocks::parameters}) {
      double* const to = out.*block;
      if (!to) continue;
      const bool is_of_state = block == &JacobianBlocks::q || block == &JacobianBlocks::v;
      const std::size_t columns = block == &JacobianBlocks::q_target     ? at(m.n_q)
                                  : block == &JacobianBlocks::parameters ? selected
                                                                         : n;
      // Propagate the Jacobians of the substeps before through this one. For controls and
      // parameters, add the Jacobian of this substep itself.
      if (i > 0) std::copy_n(to, 2 * n * columns, before.*block);
      if (i == 0 || !is_of_state)
        std::copy_n(own.*block, 2 * n * columns, to);
      else
        std::fill_n(to, 2 * n * columns, 0.0);
      for (std::size_t r = 0; i > 0 && r < 2 * n; ++r)
        for (std::size_t k = 0; k < 2 * n; ++k) {
          const double by = k < n ? own.q[r * n + k] : own.v[r * n + k - n];
          if (by == 0) continue;
          for (std::size_t c = 0; c < columns; ++c)
            to[r * columns + c] += by * (before.*block)[k * columns + c];
        }
    }
  }
  return one_sided;
}

void Simulator::rollout(const KeptStates& kept, int begin, int end, const StateSpan& states,
                        const ControlView& controls, RolloutReport& report) {
  for (int i = begin; i < end; ++i) {
    const std::ptrdiff_t to = i / kept.interval + 1, from = i % kept.interval ? to : to - 1;
    step(row(states, layout_, from), row(controls, control_layout_, i), row(states, layout_, to),
         report, i);
  }
}

void Simulator::rollout_jacobians(const KeptStates& kept, int kept_row, const StateView& states,
                                  const ControlView& controls, const JacobianBlocks& out,
                                  OneSided* one_sided) {
  part_.resize(1);
  copy(row(states, layout_, kept_row), layout_, part_[0]);
  for (int i = kept.before(kept_row); i < kept.before(kept_row + 1); ++i) {
    const ControlView control = row(controls, control_layout_, i);
    RolloutReport again;
    take(part_[0], control, again);
    one_sided[i] = jacobians(control, out.of(world().model(), i));
    copy(at_[substeps_], layout_, part_[0]);
  }
}

void Simulator::rollout_vjp(const KeptStates& kept, int begin, int end, const StateView& states,
                            const ControlView& controls, const TangentView& bars,
                            StepGradient& gradient, const ControlSpan& controls_bar) {
  RolloutReport again;
  for (int i_row = end - 1; i_row >= begin; --i_row) {
    // Recompute the states from this checkpoint to before the next.
    const int first = kept.before(i_row), count = kept.before(i_row + 1) - first;
    part_.resize(count);
    copy(row(states, layout_, i_row), layout_, part_[0]);
    rollout({count - 1, 1}, 0, count - 1, part_[0], row(controls, control_layout_, first), again);
    // The last step of the forward pass is not taken again: it waits in the other stepper while the
    // step behind it is differentiated.
    const int waiting = count > 1 && substeps_ == 1 ? first + count - 2 : -1;
    if (waiting >= 0) exchange_steppers();
    // Gradient of each step, from the last to the first.
    for (int i = first + count - 1; i >= first; --i) {
      const StateView state = part_[i - first];
      const ControlView control = row(controls, control_layout_, i);
      const TangentView bar{gradient.q.data(), gradient.v.data()};
      if (i == waiting) {
        exchange_steppers();
        stepper_->vjp(state, control, bar, whole_);
      } else {
        take(state, control, again);
        vjp(control, bar, whole_);
      }
      gradient.q = whole_.q;
      gradient.v = whole_.v;
      add_parameters(whole_, gradient);
      const ControlSpan to = row(controls_bar, control_layout_, i);
      ControlParts::for_each([&](auto part) {
        if (part(to)) std::copy(part(whole_).begin(), part(whole_).end(), part(to));
      });
    }
    // Add the loss's own gradient with respect to this checkpoint.
    const TangentView own = row(bars, bar_.layout, i_row);
    StateParts::for_each([&](auto part) {
      for (std::size_t k = 0; k < part(gradient).size(); ++k) part(gradient)[k] += part(own)[k];
    });
  }
}

}  // namespace robosim
