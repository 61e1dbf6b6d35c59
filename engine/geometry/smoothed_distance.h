// Signed distance of two shapes whose faces and edges are smoothed away: points and normal that
// never jump, with exact derivatives.
//
// The exact witness of a box on a plane jumps from corner to corner as the box tilts, and no
// derivative tells. Here corners share: a set with support function h(n) = max over i of h_i(n),
// the convex hull of its pieces i (vertices, or a cone's apex and base), is replaced by
//
//   h_e(n) = e log(sum over i of exp(h_i(n) / e)),   |n| = 1,
//
// the softmax of its pieces at the smoothing length e. For a direction d of any length it is e |d|
// log(sum exp(h_i(d) / (e |d|))), which is convex in d: the logarithm of a sum of exponentials is
// convex, so its perspective is jointly convex in h_i and |d|, and it grows with both. So h_e is
// the support function of a convex body, which holds the shape, stands off it by at most e
// log(number of pieces), and has a smooth surface. With the weights w_i = exp((h_i - h_e) / e) and
// their entropy H = -sum w_i log w_i, its point with normal n and its radii of curvature there are
//
//   p = sum w_i p_i + e H n,   S = sum w_i S_i + cov_w(p_i) / e + e H   (over the tangent plane).
//
// A Minkowski sum adds h, p and S: a box is the sum of three segments of two vertices each (so that
// its eight weights are products), a capsule a segment and a ball, a cylinder a segment and a disc.
// A disc of radius r is the ellipsoid with radii r, r, e. Spheres, ellipsoids and half-spaces are
// as they are.
//
// Of the bodies A_e and B_e the distance is the largest of phi(n) = -h_B(-n) - h_A(n) over unit n,
// of overlapping ones the largest near the exact normal. Newton's method from there, n += (phi +
// S_A + S_B)^-1 (p_B - p_A) tangentially, is that of contact_factors.h and so are the derivatives,
// with finite radii S. As h <= h_e <= h + e c for every n, the distance lies between the exact one
// and e (c_A + c_B) below it: what it calls free is free.
//
// Source: softmax as the smoothing of a maximum: Nesterov, "Smooth minimization of non-smooth
// functions", 2005; smoothed support functions for derivatives of witness points, by random
// perturbations, of which this is the closed form for Gumbel noise: Montaut and others,
// "Differentiable collision detection: a randomized smoothing approach", 2023. Cost: some ten times
// h, p and S of both shapes, after the exact distance; of a convex mesh all vertices count each
// time.
#pragma once

#include "geometry/contact_factors.h"

namespace robosim {

// Of any two shapes, with the points on A_e and B_e, and their derivatives. smoothing: e [m],
// InputError outside [Shape::min_size, Shape::max_size]. Two half-spaces have nothing to smooth.
WitnessFactors smoothed_distance(double smoothing, const Shape& A, const SE3d& X_WA, const Shape& B,
                                 const SE3d& X_WB);

// The value given back, or InputError.
double checked_smoothing(double smoothing);

// c of a shape: its smoothed body stands off it by at most c times the smoothing length.
double smoothing_reach(const Shape& shape);

}  // namespace robosim
