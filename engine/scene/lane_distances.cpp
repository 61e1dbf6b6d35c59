#include "scene/lane_distances.h"

#include "base/cpu.h"

namespace robosim {

std::unique_ptr<LaneDistances> make_lane_distances(const CollisionScene& scene) {
#define ROBOSIM_MAKE_DISTANCES(isa) \
  if (kernel_isa() == Isa::isa) return detail::make_lane_distances<Isa::isa>(scene);
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_MAKE_DISTANCES)
#undef ROBOSIM_MAKE_DISTANCES
  return nullptr;  // kernel_isa() is one of those
}

std::vector<LaneCore> detail::lane_cores(const CollisionScene& scene) {
  std::vector<LaneCore> out;
  for (const SceneObject& object : scene.objects()) out.push_back(object.geometry.compound ? LaneCore() : lane_core(object.geometry.shape));
  return out;
}

}  // namespace robosim
