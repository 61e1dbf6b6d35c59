#include "scene/lane_distances.h"

#include "base/cpu.h"

namespace robosim {

std::unique_ptr<LaneDistances> make_lane_distances(const CollisionScene& scene) {
#define ROBOSIM_MAKE_DISTANCES(isa) \
  if (kernel_isa() == Isa::isa) return detail::make_lane_distances<Isa::isa>(scene);
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_MAKE_DISTANCES)
#undef ROBOSIM_MAKE_DISTANCES
  return nullptr;  // kernel_isa() is one of the above
}

std::vector<LaneCore> detail::lane_cores(const CollisionScene& scene, bool of_exact) {
  std::vector<LaneCore> out;
  for (const SceneObject& object : scene.objects()) {
    const CollisionGeometry& geometry = object.geometry;
    out.push_back(geometry.compound || (of_exact && geometry.exact) ? LaneCore()
                                                                    : lane_core(geometry.shape));
  }
  return out;
}

}  // namespace robosim
