// Random numbers: xoshiro256++ (Blackman, Vigna: "Scrambled linear pseudorandom number generators",
// ACM TOMS 2021), seeded by splitmix64. The state is explicit, passed as an argument and never
// global; the numbers are the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>

namespace robosim {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  // 64 random bits.
  std::uint64_t bits() {
    const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0], t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double lower, double upper) { return lower + (upper - lower) * uniform(); }
  // Uniform in {0, ..., n - 1}, n > 0; the bias is below n / 2^32.
  int below(int n) {
    return static_cast<int>(((bits() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }
  // Standard normal (Box and Muller, one of the two numbers).
  double normal() {
    const double u = 1 - uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace robosim
