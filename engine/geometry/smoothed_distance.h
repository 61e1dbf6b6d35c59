// Signed distance of two shapes with smoothed faces and edges: points and normal never jump, and
// their derivatives are exact.
//
// The exact witness of a box on a plane jumps from corner to corner as the box tilts, and no
// derivative shows the jump. Here, the corners share the contact. Let a set be the convex hull of
// pieces i (vertices, or a cone's apex and base), with support function h(n) = max over i of
// h_i(n). Its support function is replaced by
//
//   h_e(n) = e log(sum over i of exp(h_i(n) / e)),   |n| = 1,
//
// the softmax of its pieces at the smoothing length e. For a direction d of any length the softmax
// is e |d| log(sum exp(h_i(d) / (e |d|))), which is convex in d: the logarithm of a sum of
// exponentials is convex, so its perspective is jointly convex in h_i and |d|, and it grows with
// both. So h_e is the support function of a convex body. The body contains the shape, extends
// beyond it by at most e log(number of pieces), and has a smooth surface. With the weights
// w_i = exp((h_i - h_e) / e) and their entropy H = -sum w_i log w_i, the body's point with normal n
// and its radii of curvature are
//
//   p = sum w_i p_i + e H n,   S = sum w_i S_i + cov_w(p_i) / e + e H   (over the tangent plane).
//
// A Minkowski sum adds h, p and S:
//
//   box       sum of three segments of two vertices each (so that its eight weights are products)
//   capsule   sum of a segment and a ball
//   cylinder  sum of a segment and a disc
//
// A disc of radius r is the ellipsoid with radii r, r, e. Spheres, ellipsoids and half-spaces are
// not changed.
//
// The distance of the bodies A_e and B_e is the maximum of phi(n) = -h_B(-n) - h_A(n) over unit n.
// If the bodies overlap, it is the local maximum near the exact normal. Newton's method starts at
// the exact normal and repeats n += (phi + S_A + S_B)^-1 (p_B - p_A) tangentially. Step and
// derivatives are those of contact_factors.h, with finite radii S. As h <= h_e <= h + e c for every
// n, the distance lies between the exact distance and e (c_A + c_B) below it. So shapes that it
// reports as separated are separated.
//
// Sources: softmax as the smoothing of a maximum: Nesterov, "Smooth minimization of non-smooth
// functions", 2005. Smoothed support functions for derivatives of witness points, by random
// perturbations: Montaut and others, "Differentiable collision detection: a randomized smoothing
// approach", 2023; this file has the closed form for Gumbel noise.
//
// Cost: some ten evaluations of h, p and S of both shapes, after the exact distance. Each
// evaluation of a convex mesh visits all its vertices.
#pragma once

#include "geometry/contact_factors.h"

namespace robosim {

// Smoothed witness of two shapes, with points on A_e and B_e, and its derivatives. smoothing: e
// [m]; throws InputError outside [Shape::min_size, Shape::max_size]. The witness of two half-spaces
// is not smoothed.
WitnessFactors smoothed_distance(double smoothing, const Shape& A, const SE3d& X_WA, const Shape& B,
                                 const SE3d& X_WB);

// Return the smoothing length, or throw InputError if it is out of range.
double checked_smoothing(double smoothing);

// Constant c of a shape: its smoothed body extends beyond the shape by at most c times the
// smoothing length.
double smoothing_reach(const Shape& shape);

}  // namespace robosim
