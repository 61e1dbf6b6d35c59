// Collision checks and distances for many configurations: the answers of SceneQuery, several
// configurations at a time.
//
// As many configurations as a register has lanes are processed together by the forward kinematics
// and by the balls and covers of all pairs (lane_placement.h): first balls and rods about whole
// bodies, then rods about objects, then rows of smaller balls. Configurations in which these bounds
// separate all pairs are free. In the others, the remaining pairs are tested by exact shapes,
// placed as SceneQuery places them. Bounds exclude only pairs that they prove apart. The answers
// are thus bit for bit those for one configuration at a time, on any processor and with any number
// of threads.
//
// Distances (lane_distances.h) are those for one configuration at a time up to rounding; their bits
// depend on the instruction set only. Cost: about 0.2 us for a configuration that is clearly free
// of 100 pairs of bodies; 0.1 to 0.3 us per distance of two hulls. Nothing is allocated once the
// buffers have grown.
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

// Bounds for one register of configurations.
class LaneBounds {
 public:
  virtual ~LaneBounds() = default;
  virtual int lanes() const = 0;
  // Two objects that the bounds do not separate, in the configurations of the bits of `lanes`.
  // depth: overlap of the balls, in squares [m^2].
  struct Suspect {
    int a = 0, b = 0;
    std::uint32_t lanes = 0;
    double depth[8];
  };
  // Add the suspects of the configurations q[0] to q[count - 1], n_q entries each, where
  // 1 <= count <= lanes().
  virtual void suspects(int count, const double* const* q, std::vector<Suspect>& out) = 0;

 protected:
  LaneBounds() = default;
};

// Make the bounds for the instruction set that this process uses (base/cpu.h). The scene must
// outlive them.
std::unique_ptr<LaneBounds> make_lane_bounds(const CollisionScene& scene);

namespace detail {

template <Isa isa>
std::unique_ptr<LaneBounds> make_lane_bounds(const CollisionScene& scene);

// Not inline: code compiled for an instruction set calls no method of a general container.
void add_suspect(std::vector<LaneBounds::Suspect>& to, const LaneBounds::Suspect& suspect);

}  // namespace detail

// Queries of many configurations, with the workspaces of all threads. Calls from several threads
// take turns.
class BatchCheck {
 public:
  explicit BatchCheck(const CollisionScene& scene) : scene_(&scene) {}

  // Check n configurations. q: n times n_q numbers; out: n answers. At most `threads` threads, 0
  // for as many as the pool has.
  void collides(std::ptrdiff_t n, const double* q, bool* out, int threads);
  // Compute signed distances [m]. out: n times scene.pairs() numbers, in the order of the pairs.
  void distances(std::ptrdiff_t n, const double* q, double* out, int threads);

 private:
  struct Workspace {
    SceneQuery query;
    std::unique_ptr<LaneBounds> bounds;
    std::unique_ptr<LaneDistances> distances;  // made at the first use
    std::vector<LaneBounds::Suspect> suspects;
  };
  void check(Workspace& w, std::ptrdiff_t first, int count, const double* q, bool* out) const;
  void measure(Workspace& w, std::ptrdiff_t first, int count, const double* q, double* out) const;
  // Call f(workspace, first, count) for each register of configurations; each workspace belongs to
  // one thread.
  void for_each_register(std::ptrdiff_t n, int threads,
                         FunctionRef<void(Workspace& w, std::ptrdiff_t first, int count)> f);

  const CollisionScene* scene_;
  std::mutex busy_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // one per thread
};

}  // namespace robosim
