// Enumeration of configurations that differ from goals by whole turns, nearest to the start first.
//
// A joint that turns without bounds, or by more than a turn within them, shows the same pose at
// several positions. A UR5, whose six joints turn from -2 pi to 2 pi, has 64 or more for every
// configuration, so they are enumerated one by one on demand. Each entry of q has its own list of
// positions, nearest first. A heap contains the successors of the configurations already returned:
// enumeration of the k best sums (Lawler, "A procedure for computing the k best solutions",
// Management Science 1972). Cost: O(n log k) each.
//
// Lengths are Euclidean in q, like those of paths (planners/stages.py).
#pragma once

#include <cstddef>
#include <vector>

namespace robosim {

// Largest number of lines that are tried.
inline constexpr int most_lines = 20000;

// Periodic entries of q and their limits, per column.
struct Turning {
  std::vector<char> periodic;        // true if 2 pi more is the same pose
  std::vector<double> lower, upper;  // infinite if there is no limit

  // Least and largest number of additional turns that keep entry k within its limits when it is at
  // x; 0 if the entry is not periodic. One turn where there is no limit, and never more than
  // most_turns.
  static constexpr int most_turns = 32;
  int least(std::size_t k, double x) const;
  int most(std::size_t k, double x) const;
};

class WholeTurns {
 public:
  struct Candidate {
    int goal = -1;
    double length = 0;      // of the straight line from the start
    std::vector<double> q;  // columns only
  };

  // start: one number per column. goals: rows of as many numbers. Goals with may_turn stand for all
  // configurations that differ from them by whole turns. Goals out of limits are skipped.
  WholeTurns(const Turning& turning, const double* start, const std::vector<double>& goals,
             const std::vector<char>& may_turn);

  // Compute the next configuration; false if there are no more.
  bool next(Candidate& out);
  // Number of configurations returned so far.
  int count() const { return count_; }

 private:
  struct Entry {
    double squared = 0;
    int goal = 0, last = 0;  // `last`: entries of q before it do not change in successors
    std::size_t ranks = 0;   // index of its first rank
  };
  struct Copy {
    double squared = 0, q = 0;
  };
  static bool is_later(const Entry& a, const Entry& b) {
    if (a.squared != b.squared) return a.squared > b.squared;
    return a.goal != b.goal ? a.goal > b.goal : a.ranks > b.ranks;
  }
  // The r-th nearest position of entry k of a goal, and the number of positions.
  const Copy& copy(int goal, std::size_t k, int r) const {
    return copies_[begin(goal, k) + static_cast<std::size_t>(r)];
  }
  int n_copies(int goal, std::size_t k) const {
    return static_cast<int>(begin(goal, k + 1) - begin(goal, k));
  }
  std::size_t begin(int goal, std::size_t k) const {
    return first_[static_cast<std::size_t>(goal) * n_ + k];
  }
  void push(int goal, int last);

  std::size_t n_;
  int count_ = 0;
  std::vector<Copy> copies_;
  std::vector<std::size_t> first_;  // per goal and entry of q
  std::vector<Entry> heap_;
  std::vector<unsigned char> ranks_;  // n_ each: which copy of each entry of q
};

}  // namespace robosim
