// EPA: how deep the origin lies inside D = B - A, and in which direction it leaves D soonest.
//
// A polytope inside D is grown by the support point in the direction of its face nearest to the
// origin. The distance of that face bounds the depth from below and the support function h(m) = max
// over D of m.x in any direction m from above. The answer is the direction with the least h found:
// a translation by h(m) along it certainly separates. Exact for polytopes. Where round shapes
// surround each other, or meshes of many faces, more directions are nearly as deep as the best one
// than there is room for: then it is the least h found about eight good directions, above the least
// of all by no more than what 800 points of D leave open. Source: van den Bergen, "Proximity
// queries and penetration depth computation on 3D game objects", 2001.
#pragma once

#include "geometry/support_function.h"

namespace robosim {

struct Penetration {
  Vec3d direction;      // unit; the boundary point of D nearest to the origin is depth * direction
  double depth = 0;     // zero or positive up to rounding
  double gap = 0;       // to what the facets prove, over all directions or those about this one
  bool proved = false;  // by the caller, from an earlier guess: the rest does not count then
  // The point of A whose partner on B is a + w, and that point w of D: depth * direction to
  // rounding, but for curved shapes up to the sagitta of the last facet.
  Vec3d a, w;
};

// Asked about the nearest facet once the bounds have come close, and about that in the best
// direction where there is room for no more: whether it is near enough for an answer and its proof
// by other means.
struct EpaGuess {
  void* caller = nullptr;
  bool (*proved)(void* caller, const Penetration& guess) = nullptr;
  // Where there is no room for all directions: the least deep of those that the caller knows to
  // look at, such as a hull's faces.
  Vec3d (*least_deep)(void* caller) = nullptr;
};

// start: the simplex on which GJK found the origin (any number of points).
Penetration epa(const SupportFunction& D, const Simplex& start, const EpaGuess& guess = {});

}  // namespace robosim
