// Choice of the instruction set, and code that is common to all instruction sets.
#include "planning/interval_sifter.h"

#include "base/cpu.h"

namespace robosim {

std::unique_ptr<IntervalSifter> make_interval_sifter(const CollisionScene& scene,
                                                     const MotionLayout& layout) {
#define ROBOSIM_MAKE_SIFTER(isa) \
  if (kernel_isa() == Isa::isa) return detail::make_interval_sifter<Isa::isa>(scene, layout);
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_MAKE_SIFTER)
#undef ROBOSIM_MAKE_SIFTER
  return nullptr;  // kernel_isa() is one of the above
}

SiftRow& SiftRows::add() {
  if (size_ == rows_.size()) rows_.emplace_back();
  return rows_[size_++];
}

void detail::add_suspect(std::vector<SiftSuspect>& to, const SiftSuspect& suspect) {
  to.push_back(suspect);
}

}  // namespace robosim
