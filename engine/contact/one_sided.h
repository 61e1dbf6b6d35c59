// Causes for which a derivative of a step holds on one side only, or not at all.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace robosim {

// A set of causes, of one step or of several: its bits. In Python it is
// robosim.simulation.OneSidedCause.
enum class OneSided : std::uint8_t {
  no = 0,
  feature = 1,       // another feature of a contact takes over
  tie = 2,           // a row is at the edge of its class: it pushes or not, sticks or slides
  undetermined = 4,  // velocities are not unique
  // The impulses are those of no active set: most that are rough or inconsistent.
  unsolved = 8,
  // Rows that depend on each other contradict each other as soon as something moves.
  torn = 16,
  other_classes = 32,  // complementarity_aware: the derivative is that of other classes
  diverged = 64,       // the step was not taken
  // Of second derivatives: steps beside this one, however near, are by other formulas.
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
// The cause where something is so, else none.
constexpr OneSided one_sided_if(bool is_so, OneSided cause) { return is_so ? cause : OneSided::no; }

}  // namespace robosim
