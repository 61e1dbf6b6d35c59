#include "planning/ik_batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/constants.h"
#include "base/cpu.h"
#include "base/index.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "model/joint_layout.h"
#include "planning/ik_lanes.h"
#include "planning/ik_reach.h"

namespace robosim {

std::unique_ptr<IkLanes> make_ik_lanes(const IkChain& chain) {
#define ROBOSIM_MAKE_IK(isa) \
  if (kernel_isa() == Isa::isa) return detail::make_ik_lanes<Isa::isa>(chain);
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_MAKE_IK)
#undef ROBOSIM_MAKE_IK
  return nullptr;  // kernel_isa() is one of the above
}

namespace {

constexpr int first_attempts = 9;  // before the unsolved poses are checked together
constexpr int chunk = 128;         // poses per thread at once
constexpr int slice = 2048;        // poses between two calls of go_on
constexpr int patient_iterations = 500;
constexpr double near_miss = 1e-2;  // weighted residual below which they are worthwhile

class Batch {
 public:
  Batch(const Model& model, const IkGoal& goal, int n, const SE3d* X_WG, const double* start,
        bool shared_start, const IkBatchOptions& options)
      : model_(model),
        options_(options),
        n_(n),
        start_(start),
        stride_(shared_start ? 0 : model.n_q),
        rng_(options.ik.seed) {
    chain_.model = &model;
    chain_.goal = goal;
    const Frame& frame = model.frames[goal.frame];
    chain_.X_BE = frame.X_BF * goal.X_FE;
    for (int i = frame.body; i > 0; i = model.joints[i].parent) chain_.path.push_back(i);
    std::reverse(chain_.path.begin(), chain_.path.end());
    chain_.columns = options.ik.columns;
    chain_.lower = options.ik.lower;
    chain_.upper = options.ik.upper;
    chain_.column_of.assign(model.n_q, -1);
    for (std::size_t j = 0; j < chain_.columns.size(); ++j)
      chain_.column_of[chain_.columns[j]] = static_cast<int>(j);
    chain_.max_iterations = options.max_iterations;
    chain_.position_tolerance = options.position_aim;
    chain_.rotation_tolerance = options.rotation_aim;
    find_turns();

    const std::size_t count = at(n), n_q = at(model.n_q);
    result_.q.resize(count * n_q);
    result_.position_error.assign(count, 0);
    result_.rotation_error.assign(count, 0);
    result_.status.assign(count, IkStatus::not_found);
    result_.attempts.assign(count, 0);
    result_.distance.assign(count, 0);
    result_.least.assign(count, 0);
    result_.most.assign(count, 0);
    tasks_.resize(count);
    for (int i = 0; i < n; ++i) {
      IkTask& task = tasks_[i];
      task.start = start + i * stride_;
      task.X_WG = X_WG[i];
      task.q = result_.q.data() + at(i) * n_q;
      std::copy_n(task.start, n_q, task.q);
      task.error = std::numeric_limits<double>::infinity();
    }
  }

  IkBatchResult run() {
    prove();
    // Rounds of attempts: a few, then all; more where solutions collide.
    std::vector<int> left;
    for (int i = 0; i < n_; ++i)
      if (result_.status[i] == IkStatus::not_found) left.push_back(i);
    int end = std::min(first_attempts, options_.attempts);
    bool goes_on = true;
    while (!left.empty() && goes_on) {
      add_seeds(end - 1);
      goes_on = solve(left, end);
      if (!goes_on) break;
      if (options_.scene) look_at(left);
      std::vector<int> next;
      for (const int i : left) {
        const IkTask& task = tasks_[i];
        if (task.is_solved)
          result_.status[i] = IkStatus::solved;
        else if (task.attempt < options_.attempts)
          next.push_back(i);
      }
      left = std::move(next);
      end = options_.attempts;
    }
    if (goes_on) polish();
    for (int i = 0; i < n_; ++i) settle(i);
    return std::move(result_);
  }

 private:
  void find_turns() {
    for (const int column : chain_.columns) {
      const bool mimicked =
          std::any_of(model_.joints.begin(), model_.joints.end(),
                      [&](const Joint& joint) { return joint.mimic && joint.q_index == column; });
      turns_.push_back(!mimicked && coordinate_of(model_, column) == Coordinate::periodic_angle);
    }
  }

  // Find the poses that are out of reach, before any attempt. The bound is recomputed where a start
  // differs in entries other than the columns.
  void prove() {
    std::unique_ptr<IkReach> reach;
    const double* made_for = nullptr;
    for (int i = 0; i < n_; ++i) {
      const IkTask& task = tasks_[i];
      if (!reach || !alike(task.start, made_for)) {
        IkGoal goal = chain_.goal;
        // Solutions within the tolerances count, not only exact ones.
        for (int k = 0; k < 6; ++k) {
          const double tolerance =
              k < 3 ? options_.ik.position_tolerance : options_.ik.rotation_tolerance;
          goal.lower[k] -= tolerance;
          goal.upper[k] += tolerance;
        }
        reach = std::make_unique<IkReach>(model_, goal, options_.ik, task.start);
        made_for = task.start;
        result_.first = reach->first();
        result_.last = reach->last();
      }
      const IkReach::Answer answer = (*reach)(task.X_WG);
      if (!answer.is_beyond) continue;
      result_.status[i] = IkStatus::out_of_reach;
      result_.position_error[i] = result_.rotation_error[i] =
          std::numeric_limits<double>::quiet_NaN();
      result_.distance[i] = answer.distance;
      result_.least[i] = answer.least;
      result_.most[i] = answer.most;
    }
  }

  bool alike(const double* a, const double* b) const {
    if (a == b) return true;
    for (const int body : chain_.path) {
      const Joint& joint = model_.joints[body];
      for (int k = joint.q_index; k < joint.q_index + std::max(joint.n_q, 1); ++k)
        if (chain_.column_of[k] < 0 && a[k] != b[k]) return false;
    }
    return true;
  }

  // Extend the table of seeds to a number of blocks: random configurations and their poses.
  void add_seeds(int blocks) {
    if (blocks <= seeds_.blocks) return;
    const int first = IkSeeds::block * seeds_.blocks, total = IkSeeds::block * blocks;
    const std::size_t columns = chain_.columns.size();
    seeds_.q.resize(at(total) * columns);
    for (auto& numbers : seeds_.pose) numbers.resize(total);
    for (std::size_t k = at(first) * columns; k < seeds_.q.size(); ++k) {
      const std::size_t j = k % columns;
      double low, high;
      window(j, low, high);
      seeds_.q[k] = rng_.uniform(low, high);
    }
    worker(0).place(seeds_, first, total - first, start_);
    seeds_.blocks = blocks;
    if (!options_.scene) return;
    // Move seeds in collision far away, so that none is nearest.
    std::vector<double> q(at(total - first) * at(model_.n_q));
    for (int i = 0; i < total - first; ++i) {
      double* to = q.data() + at(i) * at(model_.n_q);
      std::copy_n(start_, model_.n_q, to);
      for (std::size_t j = 0; j < columns; ++j)
        to[chain_.columns[j]] = seeds_.q[at(first + i) * columns + j];
    }
    const std::unique_ptr<bool[]> collide(new bool[total - first]);
    options_.scene->collides(total - first, q.data(), collide.get(), options_.threads);
    for (int i = 0; i < total - first; ++i)
      if (collide[i]) seeds_.pose[0][first + i] += 1e3;
  }

  // Range of seeds: the limits; one turn about the first start where limits allow more; near the
  // first start where there are no limits.
  void window(std::size_t j, double& low, double& high) const {
    const double rest = start_[chain_.columns[j]], reach = turns_[j] ? pi : 1;
    low = chain_.lower[j];
    high = chain_.upper[j];
    const bool bounded = std::isfinite(low) && std::isfinite(high);
    if (bounded && !(turns_[j] && high - low > 2 * pi)) return;
    low = std::max(chain_.lower[j], std::min(rest - reach, chain_.upper[j] - 2 * reach));
    high = std::min(chain_.upper[j], low + 2 * reach);
  }

  IkLanes& worker(int k) {
    while (static_cast<int>(workers_.size()) <= k) workers_.push_back(make_ik_lanes(chain_));
    return *workers_[k];
  }

  // Run attempts up to `end` for these poses. Return false if go_on canceled the batch.
  bool solve(const std::vector<int>& poses, int end) {
    const int count = static_cast<int>(poses.size());
    int threads =
        options_.threads > 0 ? std::min(options_.threads, thread_limit()) : thread_limit();
    threads = std::max(1, std::min(threads, (count + chunk - 1) / chunk));
    for (int k = 0; k < threads; ++k) worker(k);
    std::vector<IkTask> tasks(at(count));
    for (int k = 0; k < count; ++k) {
      tasks[k] = tasks_[poses[k]];
      tasks[k].end = end;
      tasks[k].is_solved = false;
    }
    // Solve slice by slice, each in chunks on all threads.
    bool goes_on = true;
    int done = n_ - count;
    for (int first = 0; first < count && goes_on; first += slice) {
      const int many = std::min(slice, count - first), chunks = (many + chunk - 1) / chunk;
      const auto body = [&](int c, int w) {
        const int from = first + c * chunk;
        workers_[w]->solve(tasks.data() + from, std::min(chunk, first + many - from), seeds_);
      };
      if (threads == 1)
        for (int c = 0; c < chunks; ++c) body(c, 0);
      else
        parallel_for(chunks, threads, body);
      for (int k = first; k < first + many; ++k) {
        const IkTask& task = tasks[k];
        tasks_[poses[k]] = task;
        turn(task);
        done += task.is_solved || task.attempt >= options_.attempts;
      }
      // Keep the reported number from falling, as solutions in collision are counted before they
      // are rejected.
      told_ = std::max(told_, done);
      if (options_.go_on) goes_on = options_.go_on(told_);
    }
    return goes_on;
  }

  // Continue near misses from their closest configurations: near singular poses steps are short.
  void polish() {
    std::vector<IkTask> tasks;
    std::vector<int> poses;
    for (int i = 0; i < n_; ++i) {
      const IkTask& task = tasks_[i];
      if (result_.status[i] == IkStatus::not_found && !(task.error > near_miss * near_miss))
        poses.push_back(i);
    }
    if (poses.empty()) return;
    chain_.max_iterations = patient_iterations;
    chain_.is_patient = true;
    const std::size_t n_q = at(model_.n_q);
    std::vector<double> starts(poses.size() * n_q);
    for (std::size_t k = 0; k < poses.size(); ++k) {
      IkTask task = tasks_[poses[k]];
      std::copy_n(task.q, n_q, starts.data() + k * n_q);
      task.start = starts.data() + k * n_q;
      task.attempt = 0;
      task.end = 1;
      tasks.push_back(task);
    }
    worker(0).solve(tasks.data(), static_cast<int>(tasks.size()), seeds_);
    for (std::size_t k = 0; k < poses.size(); ++k) {
      IkTask& task = tasks_[poses[k]];
      task.error = tasks[k].error;
      task.is_solved = tasks[k].is_solved;
      task.position_error = tasks[k].position_error;
      task.rotation_error = tasks[k].rotation_error;
    }
  }

  // Move periodic joints within half a turn of the start, as far as limits allow.
  void turn(const IkTask& task) const {
    for (std::size_t j = 0; j < turns_.size(); ++j) {
      if (!turns_[j]) continue;
      double& value = task.q[chain_.columns[j]];
      double turns = std::round((task.start[chain_.columns[j]] - value) / (2 * pi));
      while (turns > 0 && value + 2 * pi * turns > chain_.upper[j]) --turns;
      while (turns < 0 && value + 2 * pi * turns < chain_.lower[j]) ++turns;
      value += 2 * pi * turns;
    }
  }

  // Reject solutions that collide, but keep them in the result.
  void look_at(const std::vector<int>& poses) {
    std::vector<double> q;
    std::vector<int> solved;
    for (const int i : poses) {
      const IkTask& task = tasks_[i];
      if (task.is_solved) {
        solved.push_back(i);
        q.insert(q.end(), task.q, task.q + model_.n_q);
      }
    }
    const std::unique_ptr<bool[]> collide(new bool[solved.size()]);
    options_.scene->collides(static_cast<std::ptrdiff_t>(solved.size()), q.data(), collide.get(),
                             options_.threads);
    for (std::size_t k = 0; k < solved.size(); ++k) {
      if (!collide[k]) continue;
      tasks_[solved[k]].is_solved = false;
      result_.status[solved[k]] = IkStatus::in_collision;
      tasks_[solved[k]].error = 0;  // nothing is closer; only a solution replaces it
    }
  }

  // Final status of a pose. Without an exact solution, the closest configuration may be within the
  // tolerances.
  void settle(int i) {
    const IkTask& task = tasks_[i];
    IkStatus& status = result_.status[i];
    result_.attempts[i] = task.attempt;
    if (status == IkStatus::out_of_reach) return;
    result_.position_error[i] = task.position_error;
    result_.rotation_error[i] = task.rotation_error;
    if (status != IkStatus::not_found || task.attempt == 0) return;
    const bool is_near = task.position_error <= options_.ik.position_tolerance &&
                         task.rotation_error <= options_.ik.rotation_tolerance;
    if (!is_near) return;
    bool collides = false;
    if (options_.scene) options_.scene->collides(1, task.q, &collides, 1);
    status = collides ? IkStatus::in_collision : IkStatus::solved;
  }

  const Model& model_;
  const IkBatchOptions& options_;
  int n_, told_ = 0;
  const double* start_;
  std::ptrdiff_t stride_;
  Rng rng_;
  IkChain chain_;
  IkSeeds seeds_;
  std::vector<char> turns_;
  std::vector<std::unique_ptr<IkLanes>> workers_;
  std::vector<IkTask> tasks_;
  IkBatchResult result_;
};

}  // namespace

IkBatchResult inverse_kinematics_many(const Model& model, const IkGoal& goal, int n,
                                      const SE3d* X_WG, const double* start, bool shared_start,
                                      const IkBatchOptions& options) {
  return Batch(model, goal, n, X_WG, start, shared_start, options).run();
}

}  // namespace robosim
