// EPA: depth of the origin inside D = B - A, and direction of the shortest translation out of D.
//
// A polytope inside D grows by the support point in the direction of its face nearest to the
// origin. The distance of that face is a lower bound of the depth. The support function h(m) = max
// over x in D of m.x in any unit direction m is an upper bound, since a translation by h(m) along m
// certainly separates. The answer is the direction with the least h found.
//
// The answer is exact for polytopes. If round shapes surround each other, or meshes with many
// faces, more directions are nearly as deep as the best one than the polytope has capacity for. The
// answer is then the least h found near eight good directions. Its error is at most the gap left by
// 800 points of D.
//
// Source: van den Bergen, "Proximity queries and penetration depth computation on 3D game objects",
// 2001.
#pragma once

#include "geometry/support_function.h"

namespace robosim {

struct Penetration {
  Vec3d direction;      // unit; the boundary point of D nearest to the origin is depth * direction
  double depth = 0;     // zero or positive up to rounding
  double gap = 0;       // to the bound of the facets, of all or of those near this direction
  bool proved = false;  // by the caller, from an earlier guess; the other members are then invalid
  // Point of A, whose partner on B is a + w, and the point w of D. w is depth * direction up to
  // rounding; for curved shapes up to the sagitta of the last facet.
  Vec3d a, w;
};

// Callbacks that may end the search early. `proved` is called with the nearest facet once the
// bounds are close, and with the facet in the best direction once the capacity is exhausted. It
// returns true if the guess suffices to find an answer and its proof by other means.
struct EpaGuess {
  void* caller = nullptr;
  bool (*proved)(void* caller, const Penetration& guess) = nullptr;
  // Called if the capacity does not suffice for all directions. Returns the least deep of the
  // directions that the caller knows as candidates, such as the normals of a hull's faces.
  Vec3d (*least_deep)(void* caller) = nullptr;
};

// start: simplex on which GJK found the origin (any number of points).
Penetration epa(const SupportFunction& D, const Simplex& start, const EpaGuess& guess = {});

}  // namespace robosim
