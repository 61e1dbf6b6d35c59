// Batches: a state has the same bits at any position, with any neighbors and any number of threads,
// and no memory is allocated after the first use. Also run under ThreadSanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/cpu.h"
#include "base/thread_pool.h"
#include "count_allocations.h"
#include "dynamics/batch.h"
#include "random_models.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Inputs of an operation for n random states, and memory for its outputs.
struct Problem {
  const Model& model;
  int operation;
  const OperationInfo& info;
  std::ptrdiff_t n;
  std::vector<int> frames, wrench_frames;
  Options options;
  std::vector<int> in_size, out_size;
  std::vector<Numbers> in;

  Problem(const Model& model_, int operation_, std::ptrdiff_t n_, bool wrenches)
      : model(model_), operation(operation_), info(all_operations()[operation_]), n(n_) {
    Random random(17);
    const int last = static_cast<int>(model.frames.size()) - 1;
    if (info.takes_frames) frames = {last, 0, last / 2};
    if (info.takes_wrenches && wrenches) wrench_frames = {last, last / 2};
    options.frames = frames;
    options.wrench_frames = wrench_frames;
    std::vector<Argument> inputs(info.inputs.begin(), info.inputs.end());
    if (!wrench_frames.empty()) inputs.push_back(wrench_argument);
    for (const Argument& input : inputs) {
      in_size.push_back(size_of(model, options, input));
      Numbers all;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        const Numbers one = std::strcmp(input.name, "q") == 0 ? random.configuration(model)
                                                              : random.numbers(in_size.back());
        all.insert(all.end(), one.begin(), one.end());
      }
      in.push_back(all);
    }
    for (const Argument& output : info.outputs) out_size.push_back(size_of(model, options, output));
  }

  std::vector<Numbers> room() const {
    std::vector<Numbers> out;
    for (const int size : out_size) out.emplace_back(static_cast<std::size_t>(n * size), -7.0);
    return out;
  }

  // Run states first to first + count with `threads` threads.
  void run(Batch& batch, std::ptrdiff_t first, std::ptrdiff_t count, int threads,
           std::vector<Numbers>& out) const {
    const double* from[max_arguments] = {};
    std::ptrdiff_t stride[max_arguments] = {};
    double* to[max_arguments] = {};
    for (std::size_t i = 0; i < in.size(); ++i) {
      stride[i] = in_size[i];
      from[i] = in[i].data() + first * in_size[i];
    }
    for (std::size_t i = 0; i < out.size(); ++i) to[i] = out[i].data() + first * out_size[i];
    batch.run(model, operation, options, count, from, stride, to, threads);
  }

  void run_one(Workspace& workspace, std::ptrdiff_t i, std::vector<Numbers>& out) const {
    const double* from[max_arguments] = {};
    double* to[max_arguments] = {};
    for (std::size_t k = 0; k < in.size(); ++k) from[k] = in[k].data() + i * in_size[k];
    for (std::size_t k = 0; k < out.size(); ++k) to[k] = out[k].data() + i * out_size[k];
    kernels().operations[operation].one(model, workspace, options, from, to);
  }
};

bool same_bits(const std::vector<Numbers>& a, const std::vector<Numbers>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].size() != b[i].size() ||
        (!a[i].empty() && std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(double)) != 0))
      return false;
  return true;
}

template <class F>
void over_operations(const Model& model, std::ptrdiff_t n, F&& f) {
  for (std::size_t op = 0; op < all_operations().size(); ++op)
    for (const bool wrenches : {false, true}) {
      if (wrenches && !all_operations()[op].takes_wrenches) continue;
      CAPTURE(std::string(all_operations()[op].name));
      CAPTURE(wrenches);
      f(Problem(model, static_cast<int>(op), n, wrenches));
    }
}

// A fixed chain, a floating tree of all joint types, and a tree with mimic joints.
std::vector<Case> models() {
  std::vector<Case> chosen;
  for (Case& c : battery())
    if (c.label == "chain" || c.label == "free-flying tree" || c.label == "mimic")
      chosen.push_back(std::move(c));
  return chosen;
}

}  // namespace

TEST_CASE(
    "a state has the same bits alone, in any place of any batch, with any number of threads") {
  set_thread_limit(8);
  for (const Case& c : models()) {
    CAPTURE(c.label);
    over_operations(c.model, 67, [](const Problem& problem) {
      Batch batch;
      const auto workspace = kernels().make_workspace(problem.model);
      auto alone = problem.room(), whole = problem.room();
      for (std::ptrdiff_t i = 0; i < problem.n; ++i) problem.run_one(*workspace, i, alone);
      problem.run(batch, 0, problem.n, 1, whole);
      CHECK(same_bits(alone, whole));
      for (const int threads : {2, 8, 0}) {
        auto again = problem.room();
        problem.run(batch, 0, problem.n, threads, again);
        CHECK(same_bits(whole, again));
      }
      auto pieces = problem.room();  // other neighbors, other remainders
      for (std::ptrdiff_t first = 0, size = 1; first < problem.n; first += size, size += 3)
        problem.run(batch, first, std::min(size, problem.n - first), 2, pieces);
      CHECK(same_bits(whole, pieces));
    });
  }
}

TEST_CASE("results that do not fit in the caches have the same bits as those that do") {
  set_thread_limit(2);
  for (const Case& c : models()) {
    CAPTURE(c.label);
    const std::ptrdiff_t n = (std::ptrdiff_t{1} << 22) / (c.model.n_v * c.model.n_v) + 13;
    const Problem problem(c.model, operation_index("crba"), n, false);
    Batch batch;
    auto whole = problem.room(), pieces = problem.room();
    problem.run(batch, 0, n, 2, whole);
    for (std::ptrdiff_t first = 0; first < n; first += 256)
      problem.run(batch, first, std::min<std::ptrdiff_t>(256, n - first), 1, pieces);
    CHECK(same_bits(whole, pieces));
  }
}

TEST_CASE("several callers at once, with batches of their own and with one together") {
  set_thread_limit(4);
  const Model model = models()[1].model;
  const Problem problem(model, operation_index("forward_dynamics_derivatives"), 129, true);
  Batch shared;
  auto expected = problem.room();
  problem.run(shared, 0, problem.n, 1, expected);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int k = 0; k < 4; ++k)
    callers.emplace_back([&, k] {
      Batch own;
      for (int repeat = 0; repeat < 5; ++repeat) {
        auto out = problem.room();
        problem.run(k % 2 ? own : shared, 0, problem.n, 2, out);
        wrong += !same_bits(out, expected);
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("nothing is allocated once an operation has been used") {
  set_thread_limit(2);
  for (const Case& c : models()) {
    CAPTURE(c.label);
    Batch batch;
    const auto workspace = kernels().make_workspace(c.model);
    over_operations(c.model, 40, [&](const Problem& problem) {
      auto out = problem.room();
      const auto round = [&] {
        problem.run(batch, 0, problem.n, 2, out);
        problem.run(batch, 0, problem.n, 1, out);
        problem.run_one(*workspace, 3, out);
      };
      CHECK(allocations_when_repeated(round) == 0);
    });
  }
}
