// SimulatorPool: simulators of one world for sequential or concurrent callers. Each caller borrows
// one simulator per thread.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "rollout/simulator.h"

namespace robosim {

class SimulatorPool {
 public:
  // The world must outlive the pool. Throws InputError if an option is out of its range.
  SimulatorPool(const World& world, const StepOptions& options, int substeps)
      : world_(world), options_(options), substeps_(substeps) {
    idle_.push_back(std::make_unique<Simulator>(world_, options_, substeps_));
  }
  SimulatorPool(const SimulatorPool&) = delete;
  SimulatorPool& operator=(const SimulatorPool&) = delete;

  const World& world() const { return world_; }
  const StepOptions& options() const { return options_; }
  int substeps() const { return substeps_; }

  // Simulators of one caller, returned to the pool by the destructor.
  class Borrowed {
   public:
    // `preferred` comes first if it is idle.
    Borrowed(SimulatorPool& pool, int count, const Simulator* preferred = nullptr) : pool_(pool) {
      for (int i = 0; i < count; ++i)
        simulators_.push_back(pool_.take(i == 0 ? preferred : nullptr).release());
    }
    ~Borrowed() {
      const std::lock_guard lock(pool_.mutex_);
      for (Simulator* simulator : simulators_) pool_.idle_.emplace_back(simulator);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    Simulator* operator->() const { return simulators_.front(); }
    Simulator& operator*() const { return *simulators_.front(); }
    std::span<Simulator* const> all() const { return simulators_; }

   private:
    SimulatorPool& pool_;
    std::vector<Simulator*> simulators_;
  };

 private:
  std::unique_ptr<Simulator> take(const Simulator* preferred) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        const auto wanted = std::find_if(idle_.begin(), idle_.end(),
                                         [&](const auto& x) { return x.get() == preferred; });
        if (wanted != idle_.end()) std::swap(*wanted, idle_.back());
        std::unique_ptr<Simulator> simulator = std::move(idle_.back());
        idle_.pop_back();
        return simulator;
      }
    }
    return std::make_unique<Simulator>(world_, options_, substeps_);
  }

  const World& world_;
  StepOptions options_;
  int substeps_;
  std::vector<std::unique_ptr<Simulator>> idle_;
  std::mutex mutex_;
};

}  // namespace robosim
