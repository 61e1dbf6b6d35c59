// Causes for which a derivative of a step is one-sided, or does not exist.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace robosim {

// Set of causes, of one or several steps, as bits. In Python it is
// robosim.simulation.OneSidedCause.
enum class OneSided : std::uint8_t {
  no = 0,
  feature = 1,       // another feature of a contact takes over
  tie = 2,           // a row is degenerate: at the border of pushing or not, of sticking or sliding
  undetermined = 4,  // velocities are not unique
  // The impulses belong to no active set: most rough or inconsistent solutions.
  unsolved = 8,
  // Linearly dependent rows contradict each other as soon as anything moves.
  torn = 16,
  other_classes = 32,  // complementarity_aware: the derivative is that of other modes
  diverged = 64,       // the step was not taken
  // Second derivatives: steps arbitrarily close to this one follow other formulas.
  switches = 128
};

struct OneSidedCause {
  const char* name;
  OneSided bit;
};
inline constexpr std::initializer_list<OneSidedCause> one_sided_causes = {
    {"feature", OneSided::feature},
    {"tie", OneSided::tie},
    {"undetermined", OneSided::undetermined},
    {"unsolved", OneSided::unsolved},
    {"torn", OneSided::torn},
    {"other_classes", OneSided::other_classes},
    {"diverged", OneSided::diverged},
    {"switches", OneSided::switches},
};

constexpr OneSided operator|(OneSided a, OneSided b) {
  return static_cast<OneSided>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr OneSided& operator|=(OneSided& a, OneSided b) { return a = a | b; }
// Return the cause if the condition is true, else none.
constexpr OneSided one_sided_if(bool is_so, OneSided cause) { return is_so ? cause : OneSided::no; }

}  // namespace robosim
