// Instantiation of operations for the instruction set of the including translation unit. Every
// symbol has that set in its type, or does not exist, so that no function compiled for a wider set
// is used in place of a general one.
#pragma once

#include "base/dual.h"
#include "base/lane_transpose.h"
#include "dynamics/compiled/shared.h"
#include "dynamics/kernels.h"
#include "dynamics/tree_matrix.h"

namespace robosim {

ROBOSIM_SHARED_SWEEPS(extern, OneLane)
ROBOSIM_SHARED_SWEEPS(extern, AllLanes)
ROBOSIM_SHARED_SOLVES(extern, OneLane)
ROBOSIM_SHARED_SOLVES(extern, AllLanes)

// Memory of all kernels of one instruction set, created on first use.
template <Isa isa>
class KernelWorkspace final : public Workspace {
 public:
  using One = Lanes<1, isa>;
  using Many = Lanes<lanes_of(isa), isa>;

  template <class S>
  struct Memory {
    std::unique_ptr<Data<S>> data;
    std::vector<S> arguments;  // transposed inputs, then outputs
    std::vector<AppliedWrench<S>> wrenches;
  };

  template <class S>
  Memory<S>& memory(const Model& model) {
    Memory<S>& memory = select(static_cast<S*>(nullptr));
    if (!memory.data) memory.data = std::make_unique<Data<S>>(model);
    return memory;
  }

  // entries_of(model, pattern).
  const int* entries(const Model& model, Pattern pattern) {
    std::vector<int>& entries = entries_[static_cast<int>(pattern)];
    if (entries.empty()) entries = entries_of(model, pattern);
    return entries.data();
  }

 private:
  Memory<One>& select(One*) { return one_; }
  Memory<Many>& select(Many*) { return many_; }
  Memory<DualOf<One>>& select(DualOf<One>*) { return one_dual_; }
  Memory<DualOf<Many>>& select(DualOf<Many>*) { return many_dual_; }

  Memory<One> one_;
  Memory<Many> many_;
  Memory<DualOf<One>> one_dual_;  // of second-order operations
  Memory<DualOf<Many>> many_dual_;
  std::vector<int> entries_[4];
};

namespace detail {

template <class Op>
inline constexpr bool has_pattern = [] {
  for (const Argument& output : Op::outputs)
    if (output.pattern != Pattern::full) return true;
  return false;
}();
template <class Op>
inline constexpr bool takes_wrenches = operation_info<Op>().takes_wrenches;

// Wrenches of a call, from its last input.
template <class S>
ROBOSIM_INLINE Wrenches<S> read_wrenches(const Options& options, const S* from,
                                         std::vector<AppliedWrench<S>>& wrenches) {
  const std::size_t n = options.wrench_frames.size();
  if (wrenches.size() < n) wrenches.resize(n);
  for (std::size_t i = 0; i < n; ++i, from += 6)
    wrenches[i] = {options.wrench_frames[i],
                   Force<S>{{from[3], from[4], from[5]}, {from[0], from[1], from[2]}}};
  return {wrenches.data(), n};
}

// Run an operation on numbers of type S, or on dual numbers over these if it requires them.
template <class Op, class S, class OwnWorkspace>
ROBOSIM_INLINE void run_operation(const Model& model, OwnWorkspace& workspace,
                                  const Call<S>& call) {
  if constexpr (requires { Op::second_order; }) {
    auto& memory = workspace.template memory<DualOf<S>>(model);
    const std::size_t n = call.wrenches.size();
    if (memory.wrenches.size() < n) memory.wrenches.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto constant = [](const Vec3<S>& x) {
        return Vec3<DualOf<S>>{{x.x, S(0)}, {x.y, S(0)}, {x.z, S(0)}};
      };
      const Force<S>& F = call.wrenches[i].F;
      memory.wrenches[i] = {call.wrenches[i].frame, {constant(F.angular), constant(F.linear)}};
    }
    Op::run(model, *workspace.template memory<S>(model).data, *memory.data, call,
            Wrenches<DualOf<S>>{memory.wrenches.data(), n});
  } else {
    Op::run(model, *workspace.template memory<S>(model).data, call);
  }
}

template <class Op, Isa isa>
void run_one(const Model& model, Workspace& workspace, const Options& options,
             const double* const* in, double* const* out) {
  using S = Lanes<1, isa>;
  auto& own = static_cast<KernelWorkspace<isa>&>(workspace);
  auto& memory = own.template memory<S>(model);
  constexpr int n_in = static_cast<int>(std::size(Op::inputs)),
                n_out = static_cast<int>(std::size(Op::outputs));
  const S* inputs[n_in + 1];
  S* outputs[n_out];
  // One lane is a struct of one double, so arrays can be reinterpreted.
  for (int i = 0; i < n_in; ++i) inputs[i] = reinterpret_cast<const S*>(in[i]);
  for (int i = 0; i < n_out; ++i) {
    outputs[i] = reinterpret_cast<S*>(out[i]);
    if constexpr (has_pattern<Op>) clear_unrelated(model, Op::outputs[i].pattern, outputs[i]);
  }
  Wrenches<S> wrenches;
  if constexpr (takes_wrenches<Op>)
    if (!options.wrench_frames.empty())
      wrenches = read_wrenches(options, reinterpret_cast<const S*>(in[n_in]), memory.wrenches);
  run_operation<Op>(model, own, Call<S>{inputs, outputs, wrenches, options});
  if constexpr (has_pattern<Op>)
    for (int i = 0; i < n_out; ++i) mirror(model, Op::outputs[i].pattern, outputs[i]);
}

template <class Op, Isa isa>
void run_lanes(const Model& model, Workspace& workspace, const Options& options,
               std::ptrdiff_t first, int count, const double* const* in,
               const std::ptrdiff_t* stride, double* const* out) {
  constexpr int W = lanes_of(isa);
  using S = Lanes<W, isa>;
  auto& own = static_cast<KernelWorkspace<isa>&>(workspace);
  auto& memory = own.template memory<S>(model);
  constexpr int n_in = static_cast<int>(std::size(Op::inputs)),
                n_out = static_cast<int>(std::size(Op::outputs));
  int in_size[n_in + 1], out_size[n_out], total = 0;
  for (int i = 0; i < n_in; ++i) total += in_size[i] = size_of(model, options, Op::inputs[i]);
  in_size[n_in] = takes_wrenches<Op> ? size_of(model, options, wrench_argument) : 0;
  total += in_size[n_in];
  for (int i = 0; i < n_out; ++i) total += out_size[i] = size_of(model, options, Op::outputs[i]);
  if constexpr (has_pattern<Op>) total += n_out;  // a zero behind each output
  if (memory.arguments.size() < static_cast<std::size_t>(total)) memory.arguments.resize(total);

  // Gather the numbers of one state into one lane; missing lanes repeat the last state.
  S* at = memory.arguments.data();
  const S* inputs[n_in + 1];
  for (int i = 0; i <= n_in; ++i) {
    inputs[i] = at;
    if (in_size[i] == 0) continue;
    const double* from[W];
    for (int l = 0; l < W; ++l) from[l] = in[i] + (first + (l < count ? l : count - 1)) * stride[i];
    gather(from, in_size[i], at);
    at += in_size[i];
  }
  S* outputs[n_out];
  for (int i = 0; i < n_out; ++i) {
    outputs[i] = at;
    at += out_size[i];
    if constexpr (has_pattern<Op>) *at++ = S(0);
  }
  Wrenches<S> wrenches;
  if constexpr (takes_wrenches<Op>)
    if (!options.wrench_frames.empty())
      wrenches = read_wrenches(options, inputs[n_in], memory.wrenches);
  run_operation<Op>(model, own, Call<S>{inputs, outputs, wrenches, options});
  const auto write = [&]<bool streaming>(std::bool_constant<streaming>) {
    for (int i = 0; i < n_out; ++i) {
      double* to = out[i] + first * out_size[i];
      if (const Pattern pattern = Op::outputs[i].pattern; pattern == Pattern::full)
        scatter<streaming>(outputs[i], out_size[i], count, to);
      else
        scatter<streaming>(outputs[i], own.entries(model, pattern), out_size[i], count, to);
    }
  };
  if (own.streams)
    write(std::true_type());
  else
    write(std::false_type());
}

template <Isa isa, class... Ops>
void add_kernels(OperationList<Ops...>, Kernel* to) {
  ((*to++ = Kernel{&run_one<Ops, isa>, &run_lanes<Ops, isa>}), ...);
}

}  // namespace detail

}  // namespace robosim
