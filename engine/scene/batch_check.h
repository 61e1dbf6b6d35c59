// Which of many configurations collide, and all distances at many: the answers of SceneQuery,
// several configurations at a time.
//
// As many configurations as a register has lanes go through the forward kinematics and the balls
// and covers of all pairs together (lane_placement.h): first balls and rods about whole bodies,
// then rods about objects, then rows of smaller balls. Configurations in which all pairs are apart
// by these bounds are free; of the others the pairs that are left go to exact shapes, placed as
// SceneQuery places them. Bounds leave out only what they prove apart, so the answers are those of
// one at a time, bit for bit, on any processor and any number of threads. Distances
// (lane_distances.h) are those of one at a time up to rounding, whose bits depend on the
// instruction set and on nothing else. Cost: about 0.2 us for a configuration that is clearly free
// of 100 pairs of bodies; 0.1 to 0.3 us per distance of two hulls. No allocation once the buffers
// have grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/function_ref.h"
#include "base/isa.h"
#include "scene/lane_distances.h"
#include "scene/scene_query.h"

namespace robosim {

// The bounds for one register of configurations.
class LaneBounds {
 public:
  virtual ~LaneBounds() = default;
  virtual int lanes() const = 0;
  // Two objects that the bounds leave open: in the configurations of the bits of `lanes`. depth:
  // how much the balls overlap, in squares [m^2].
  struct Suspect {
    int a = 0, b = 0;
    std::uint32_t lanes = 0;
    double depth[8];
  };
  // Adds those of the configurations q[0] to q[count - 1], n_q entries each; 1 <= count <= lanes().
  virtual void suspects(int count, const double* const* q, std::vector<Suspect>& out) = 0;

 protected:
  LaneBounds() = default;
};

// For the instruction set that this process uses (base/cpu.h). The scene must outlive it.
std::unique_ptr<LaneBounds> make_lane_bounds(const CollisionScene& scene);

namespace detail {

template <Isa isa>
std::unique_ptr<LaneBounds> make_lane_bounds(const CollisionScene& scene);

// Out of line: what is compiled for an instruction set calls no method of a general container.
void add_suspect(std::vector<LaneBounds::Suspect>& to, const LaneBounds::Suspect& suspect);

}  // namespace detail

// Keeps the workspaces of all threads. Calls from several threads take turns.
class BatchCheck {
 public:
  explicit BatchCheck(const CollisionScene& scene) : scene_(&scene) {}

  // q: n times n_q numbers; writes n answers. At most `threads` threads, 0 for as many as the pool
  // has.
  void collides(std::ptrdiff_t n, const double* q, bool* out, int threads);
  // The same of signed distances [m]: n times scene.pairs() numbers, in the order of the pairs.
  void distances(std::ptrdiff_t n, const double* q, double* out, int threads);

 private:
  struct Workspace {
    SceneQuery query;
    std::unique_ptr<LaneBounds> bounds;
    std::unique_ptr<LaneDistances> distances;  // once they are asked for
    std::vector<LaneBounds::Suspect> suspects;
  };
  void check(Workspace& w, std::ptrdiff_t first, int count, const double* q, bool* out) const;
  void measure(Workspace& w, std::ptrdiff_t first, int count, const double* q, double* out) const;
  // Calls f(workspace, first, count) for each register of configurations; each workspace is one
  // thread's.
  void for_each_register(std::ptrdiff_t n, int threads,
                         FunctionRef<void(Workspace& w, std::ptrdiff_t first, int count)> f);

  const CollisionScene* scene_;
  std::mutex busy_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // one per thread
};

}  // namespace robosim
