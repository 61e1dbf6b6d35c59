#include "geometry/bodies/compound_query.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/constants.h"
#include "geometry/bodies/closest_descent.h"
#include "geometry/bodies/descent.h"
#include "geometry/bodies/near_descent.h"
#include "geometry/bodies/one_sided.h"
#include "geometry/bodies/solid.h"

namespace robosim {
namespace {

constexpr int max_coplanar_steps = 16;
using Piece = Compound::Piece;

// Call f(piece of A, its pose, piece of B, its pose).
template <class F>
auto with_pieces(const Body& A, const SE3d& X_WA, int a, const Body& B, const SE3d& X_WB, int b,
                 F&& f) {
  return A.with_piece(a, [&](const Piece& P) {
    return B.with_piece(b, [&](const Piece& Q) { return f(P, X_WA * P.X_BP, Q, X_WB * Q.X_BP); });
  });
}

// Compare two pieces as sets: one-sidedness changes how deep they overlap, not whether.
bool pair_closer_than(double margin, const Body& A, const SE3d& X_WA, int a, const Body& B,
                      const SE3d& X_WB, int b) {
  return with_pieces(A, X_WA, a, B, X_WB, b,
                     [&](const Piece& P, const SE3d& X_P, const Piece& Q, const SE3d& X_Q) {
                       return closer_than(margin, P.shape, X_P, Q.shape, X_Q);
                     });
}

// The box of a body, in its own frame.
Aabb own_box(const Body& body) {
  return body.shape() ? bounding_box(*body.shape(), SE3d()) : body.compound()->tree().node(0).box;
}

// Return true if A is the first of both bodies, in an order of bodies and poses that does not
// depend on which body is called A. The same pairs are thus compared in the same frame either way.
bool comes_first(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB) {
  const int n_A = A.shape() ? 1 : A.compound()->n_pieces(),
            n_B = B.shape() ? 1 : B.compound()->n_pieces();
  if (n_A != n_B) return n_A > n_B;
  const auto first_difference = [](const Vec3d& a, const Vec3d& b) {
    return a.x != b.x ? a.x - b.x : a.y != b.y ? a.y - b.y : a.z - b.z;
  };
  double d = first_difference(X_WA.p, X_WB.p);
  for (int i = 0; i < 3 && d == 0; ++i) d = first_difference(X_WA.R.row[i], X_WB.R.row[i]);
  if (d != 0) return d < 0;
  const Aabb box_A = own_box(A), box_B = own_box(B);
  d = first_difference(box_A.lower, box_B.lower);
  return d != 0 ? d < 0 : first_difference(box_A.upper, box_B.upper) <= 0;
}

bool is_packed(const Body& body) {
  return body.shape() ? body.shape()->type != ShapeType::half_space : body.compound()->is_packed();
}

// Packed trees of two bodies; a shape alone is a tree of one piece.
struct PackedPair {
  PackedTree::Node alone_A, alone_B;
  PackedBody a, b;
  double slack;

  PackedPair(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB) {
    double scale = norm(X_WA.p) + norm(X_WB.p);
    const auto packed = [&](const Body& body, PackedTree::Node& alone) {
      const Aabb box = own_box(body);
      scale += largest_coordinate(box);
      if (body.shape()) {
        alone = PackedTree::Node::of_piece(box);
        return PackedBody{&alone, nullptr};
      }
      const PackedTree& tree = body.compound()->packed();
      return PackedBody{tree.nodes.data(), tree.triangles.data()};
    };
    a = packed(A, alone_A);
    b = packed(B, alone_B);
    slack = relative_slack * scale;
  }
  PackedPair(const PackedPair&) = delete;
  PackedPair& operator=(const PackedPair&) = delete;
};

// Call ask(a, b) for pairs of pieces that may be nearer than `limit`, until it returns true, in the
// frame of the body that comes first.
bool ask_near(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB, const double& limit,
              FunctionRef<bool(int, int)> ask) {
  if (!is_packed(A) || !is_packed(B)) return Descent(A, X_WA, B, X_WB)([&] { return limit; }, ask);
  if (!comes_first(A, X_WA, B, X_WB))
    return ask_near(B, X_WB, A, X_WA, limit, [&](int b, int a) { return ask(a, b); });
  const PackedPair pair(A, X_WA, B, X_WB);
  return descend_near(pair.a, pair.b, X_WA.inverse() * X_WB, pair.slack, limit, ask);
}

// Return true if any two pieces are closer than `margin`; `cache` gets that pair.
bool are_near(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
              PieceCache* cache) {
  const bool swaps = !comes_first(A, X_WA, B, X_WB);
  const auto ask = [&](int a, int b) {
    const bool near = swaps ? pair_closer_than(margin, B, X_WB, b, A, X_WA, a)
                            : pair_closer_than(margin, A, X_WA, a, B, X_WB, b);
    if (near && cache) *cache = {a, b};
    return near;
  };
  if (cache && A.is_piece(cache->piece_A) && B.is_piece(cache->piece_B) &&
      ask(cache->piece_A, cache->piece_B))
    return true;
  return ask_near(A, X_WA, B, X_WB, margin, ask);
}

bool is_less(const PieceWitness& x, const PieceWitness& y) {
  if (x.witness.distance != y.witness.distance) return x.witness.distance < y.witness.distance;
  return x.piece_A != y.piece_A ? x.piece_A < y.piece_A : x.piece_B < y.piece_B;
}

// Return true if the nearest points of two pieces, or their shortest separating translation, lie in
// directions that are outward normals of their surfaces.
bool is_outward(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                const PieceWitness& x) {
  return with_pieces(
      A, X_WA, x.piece_A, B, X_WB, x.piece_B,
      [&](const Piece& P, const SE3d& X_P, const Piece& Q, const SE3d& X_Q) {
        const bool has_half_space =
            P.shape.type == ShapeType::half_space || Q.shape.type == ShapeType::half_space;
        if ((!P.surface && !Q.surface) || has_half_space) return true;
        const Vec3d n = x.witness.distance > 0 ? x.witness.normal
                                               : signed_distance(P.shape, X_P, Q.shape, X_Q).normal;
        return (!P.surface || P.surface->has_normal(P.triangle, transpose_times(X_P.R, n))) &&
               (!Q.surface || Q.surface->has_normal(Q.triangle, transpose_times(X_Q.R, -n)));
      });
}

// Witness of the closest pair, whose pieces are apart. If one piece lies in the solid behind the
// other, it is the translation out of that solid.
Witness out_of_solid(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                     const PieceWitness& x) {
  return with_pieces(
      A, X_WA, x.piece_A, B, X_WB, x.piece_B,
      [&](const Piece& P, const SE3d& X_P, const Piece& Q, const SE3d& X_Q) {
        const Witness& w = x.witness;
        if (P.shape.type == ShapeType::half_space || Q.shape.type == ShapeType::half_space)
          return w;
        const auto in_solid = [](const Piece& T, const SE3d& X, const Vec3d& p_W,
                                 const Vec3d& m_W) {
          return T.surface &&
                 T.surface->holds(X.inverse_times(p_W), T.triangle, transpose_times(X.R, m_W));
        };
        if (in_solid(Q, X_Q, w.p_WA, -w.normal))
          return way_out(P.shape, X_P, Q.shape, X_Q,
                         X_Q.R * Q.surface->corners(Q.triangle).normal())
              .witness;
        if (in_solid(P, X_P, w.p_WB, w.normal)) {
          const Witness out =
              way_out(Q.shape, X_Q, P.shape, X_P, X_P.R * P.surface->corners(P.triangle).normal())
                  .witness;
          return Witness{out.distance, out.p_WB, out.p_WA, -out.normal};
        }
        return w;
      });
}

// Continue a translation along its direction. A tip may lie deeper below a coplanar neighbor than
// below the triangle that it passes through.
PieceWitness beyond_coplanar(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                             const PieceWitness& deepest, double slack) {
  PieceWitness best = deepest;
  const Vec3d n = deepest.witness.normal;
  for (int step = 0; step < max_coplanar_steps; ++step) {
    const SE3d X_off{X_WA.R, X_WA.p + (best.witness.distance - 10 * slack) * n};
    PieceWitness next;
    Descent(A, X_off, B, X_WB)(
        [] { return 0.0; },
        [&](int a, int b) {
          const PieceWitness x{piece_distance(A, X_off, a, B, X_WB, b), a, b};
          if (x.witness.distance <= 0 && dot(x.witness.normal, n) > 1 - 1e-12 &&
              (next.piece_A < 0 || is_less(x, next)))
            next = x;
          return false;
        });
    if (next.piece_A < 0) break;
    next.witness =
        with_pieces(A, X_WA, next.piece_A, B, X_WB, next.piece_B,
                    [&](const Piece& P, const SE3d& X_P, const Piece& Q, const SE3d& X_Q) {
                      return way_out(P.shape, X_P, Q.shape, X_Q, -n).witness;
                    });
    if (!(next.witness.distance < best.witness.distance)) break;
    best = next;
  }
  return best;
}

bool one_in_solid(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB) {
  return piece_in_solid(A, X_WA, B, X_WB) >= 0 || piece_in_solid(B, X_WB, A, X_WA) >= 0;
}

// For bodies whose pieces are apart: if a piece of one lies in the solid of the other, return its
// translation out of the solid, else the closest pair. It is mostly that of the closest pair,
// otherwise that of the piece and the nearest triangle that it lies behind.
PieceWitness out_of_solids(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                           const PieceWitness& closest) {
  const int a = piece_in_solid(A, X_WA, B, X_WB),
            b = a >= 0 ? -1 : piece_in_solid(B, X_WB, A, X_WA);
  if (a < 0 && b < 0) return closest;
  PieceWitness out = closest;
  out.witness = out_of_solid(A, X_WA, B, X_WB, closest);
  if (out.witness.distance <= 0) return out;
  PieceWitness nearest;
  nearest.witness.distance = infinity;
  const auto ask = [&](int i, int j) {
    if ((a >= 0 && i != a) || (b >= 0 && j != b)) return false;
    const PieceWitness x{piece_distance(A, X_WA, i, B, X_WB, j), i, j};
    if (!is_less(x, nearest)) return false;
    const Witness way = out_of_solid(A, X_WA, B, X_WB, x);
    if (way.distance <= 0) {
      nearest = x;
      out = {way, i, j};
    }
    return false;
  };
  Descent(A, X_WA, B, X_WB)([&] { return nearest.witness.distance; }, ask);
  if (nearest.piece_A >= 0) return out;
  // The piece lies behind no triangle that it is nearest to, as among sheets that cross: move back
  // to the closest triangle.
  return {{-closest.witness.distance, closest.witness.p_WA, closest.witness.p_WB,
           -closest.witness.normal},
          closest.piece_A,
          closest.piece_B};
}

// Closest pieces of bodies with packed trees that are apart; nothing if pieces of them overlap.
std::optional<PieceWitness> closest_apart(const Body& A, const SE3d& X_WA, const Body& B,
                                          const SE3d& X_WB, const PieceCache* cache,
                                          const Vec3d& n_W) {
  if (!is_packed(A) || !is_packed(B)) return std::nullopt;
  const bool swaps = A.shape() || (B.compound() && !comes_first(A, X_WA, B, X_WB));
  const Body &F = swaps ? B : A, &M = swaps ? A : B;
  const SE3d &X_WF = swaps ? X_WB : X_WA, &X_WM = swaps ? X_WA : X_WB;
  const SE3d X_FM = X_WF.inverse() * X_WM;
  PieceWitness closest;
  NearestSoFar known;
  const auto look_along = [&](const Vec3d& n_WAB) {
    known.n = transpose_times(X_WF.R, swaps ? -n_WAB : n_WAB);
    if (known.is_alone_B)
      known.lowest_B = dot(known.n, X_FM * support(*M.shape(), -transpose_times(X_FM.R, known.n)));
  };
  // Take the direction that is known, and the limit of the pair in the cache.
  known.is_alone_B = M.shape() != nullptr;
  known.is_swapped = swaps;
  look_along(n_W);
  const auto ask = [&](int f, int m) {
    const int a = swaps ? m : f, b = swaps ? f : m;
    if (a == closest.piece_A && b == closest.piece_B) return false;
    const PieceWitness x{piece_distance(A, X_WA, a, B, X_WB, b), a, b};
    if (!(x.witness.distance > 0)) return true;
    if (closest.piece_A >= 0 && !is_less(x, closest)) return false;
    closest = x;
    known.limit = std::min(known.limit, x.witness.distance);
    look_along(x.witness.normal);
    return false;
  };
  // The cached pair provides only a limit and is found again by the descent: otherwise it would win
  // over other pairs of the same distance.
  if (cache && A.is_piece(cache->piece_A) && B.is_piece(cache->piece_B)) {
    const Witness w = piece_distance(A, X_WA, cache->piece_A, B, X_WB, cache->piece_B);
    if (!(w.distance > 0)) return std::nullopt;
    known.limit = w.distance;
    if (norm(n_W) == 0) look_along(w.normal);
  }
  const PackedPair pair(F, X_WF, M, X_WM);
  if (descend_closest(pair.a, pair.b, X_FM, pair.slack, known, ask) || closest.piece_A < 0)
    return std::nullopt;
  // A query of two needles may miss the distance that the descent found: then compare all pairs.
  if (closest.witness.distance > known.limit + 0.1 * pair.slack) return std::nullopt;
  return closest;
}

bool has_surface(const Body& body) { return body.compound() && body.compound()->has_surface(); }

}  // namespace

Witness piece_distance(const Body& A, const SE3d& X_WA, int piece_A, const Body& B,
                       const SE3d& X_WB, int piece_B) {
  return with_pieces(
      A, X_WA, piece_A, B, X_WB, piece_B,
      [](const Piece& P, const SE3d& X_P, const Piece& Q, const SE3d& X_Q) {
        if (P.surface && Q.surface)
          return one_sided_distance(P.shape, *P.surface, P.triangle, X_P, Q.shape, *Q.surface,
                                    Q.triangle, X_Q);
        if (Q.surface)
          return one_sided_distance(P.shape, X_P, Q.shape, *Q.surface, Q.triangle, X_Q);
        if (P.surface) {
          const Witness w = one_sided_distance(Q.shape, X_Q, P.shape, *P.surface, P.triangle, X_P);
          return Witness{w.distance, w.p_WB, w.p_WA, -w.normal};
        }
        return signed_distance(P.shape, X_P, Q.shape, X_Q);
      });
}

PieceWitness closest_pieces(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                            PieceCache* cache, const Vec3d& n_W) {
  if (A.shape() && B.shape()) return {signed_distance(*A.shape(), X_WA, *B.shape(), X_WB), 0, 0};
  const bool surface = has_surface(A) || has_surface(B);
  // Bodies apart.
  if (const std::optional<PieceWitness> apart = closest_apart(A, X_WA, B, X_WB, cache, n_W)) {
    const PieceWitness out = surface ? out_of_solids(A, X_WA, B, X_WB, *apart) : *apart;
    if (cache) *cache = {out.piece_A, out.piece_B};
    return out;
  }
  Descent descent(A, X_WA, B, X_WB);
  // closest: least of all pairs. way_out: of the intersecting pairs of bodies with surfaces, the
  // pair with the shortest translation that separates A from B.
  PieceWitness closest, way_out;
  closest.witness.distance = infinity;
  const auto ask = [&](int a, int b) {
    const bool meets = surface && closest.witness.distance <= 0;
    if (meets && !pair_closer_than(0, A, X_WA, a, B, X_WB, b)) return false;
    const PieceWitness x{piece_distance(A, X_WA, a, B, X_WB, b), a, b};
    const double d = x.witness.distance;
    if (closest.piece_A < 0 || is_less(x, closest)) {
      closest = x;
      if (!meets && std::isfinite(d)) descent.look_along(x.witness.normal);
    }
    if (!surface || d > 0) return false;
    if (way_out.piece_A >= 0 &&
        (d < way_out.witness.distance || (d == way_out.witness.distance && is_less(way_out, x))))
      return false;
    // Usually the deepest pair so far still overlaps.
    PieceCache in_the_way{closest.piece_A, closest.piece_B};
    const SE3d X_off{X_WA.R, X_WA.p + (d - 10 * descent.slack()) * x.witness.normal};
    if (!are_near(0, A, X_off, B, X_WB, &in_the_way)) way_out = x;
    return false;
  };
  if (cache && A.is_piece(cache->piece_A) && B.is_piece(cache->piece_B))
    ask(cache->piece_A, cache->piece_B);
  descent(
      [&] { return surface ? std::max(0.0, closest.witness.distance) : closest.witness.distance; },
      ask);
  // Bodies with surfaces: leave solids, separate the bodies, or continue beyond coplanar triangles.
  if (surface) {
    if (closest.witness.distance > 0)
      closest = out_of_solids(A, X_WA, B, X_WB, closest);
    else if (way_out.piece_A >= 0)
      closest = way_out;
    else
      closest = beyond_coplanar(A, X_WA, B, X_WB, closest, descent.slack());
  }
  if (cache) *cache = {closest.piece_A, closest.piece_B};
  return closest;
}

bool closer_than(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                 PieceCache* cache) {
  if (A.shape() && B.shape()) return closer_than(margin, *A.shape(), X_WA, *B.shape(), X_WB);
  return are_near(margin, A, X_WA, B, X_WB, cache) || one_in_solid(A, X_WA, B, X_WB);
}

double distance_lower_bound(double enough, const Body& A, const SE3d& X_WA, const Body& B,
                            const SE3d& X_WB, PieceCache* cache) {
  if (A.shape() && B.shape())
    return distance_lower_bound(enough, *A.shape(), X_WA, *B.shape(), X_WB);
  double least = enough;
  const auto ask = [&](int a, int b) {
    const double bound =
        with_pieces(A, X_WA, a, B, X_WB, b,
                    [&](const Piece& P, const SE3d& X_P, const Piece& Q, const SE3d& X_Q) {
                      return distance_lower_bound(least, P.shape, X_P, Q.shape, X_Q);
                    });
    if (bound < least) {
      least = bound;
      if (cache) *cache = {a, b};
    }
    return bound <= 0;
  };
  if (cache && A.is_piece(cache->piece_A) && B.is_piece(cache->piece_B) &&
      ask(cache->piece_A, cache->piece_B))
    return 0;
  if (ask_near(A, X_WA, B, X_WB, least, ask)) return 0;
  return one_in_solid(A, X_WA, B, X_WB) ? 0 : least;
}

bool visit_near(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                FunctionRef<bool(int, int)> visit) {
  if (A.shape() && B.shape()) return visit(0, 0);
  return ask_near(A, X_WA, B, X_WB, std::max(0.0, margin), visit);
}

void contacts(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
              std::vector<PieceWitness>& out, LeftOut* left_out) {
  const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(out.size());
  const bool surface = has_surface(A) || has_surface(B);
  PieceWitness closest;
  double depth = 0;
  if (surface) {
    closest = closest_pieces(A, X_WA, B, X_WB);
    depth = Descent(A, X_WA, B, X_WB).slack() - closest.witness.distance;
  }
  // Keep pairs that touch beside the closest one: the part of a triangle that a shape lies over may
  // be so narrow that its shortest separating translation is sideways.
  const auto is_beside = [&](const Witness& w) {
    return w.distance <= 0 && w.distance >= -depth &&
           dot(w.normal, closest.witness.normal) > 1 - 1e-12;
  };
  // Collect the pairs within the margin.
  visit_near(margin, A, X_WA, B, X_WB, [&](int a, int b) {
    const PieceWitness x{piece_distance(A, X_WA, a, B, X_WB, b), a, b};
    if (!(x.witness.distance < margin)) return false;
    if (!surface || is_outward(A, X_WA, B, X_WB, x) || is_beside(x.witness))
      out.push_back(x);
    else if (left_out)
      left_out->pairs.push_back(x);
    return false;
  });
  if (left_out) left_out->depth = depth;
  if (surface) {
    // Keep the closest pair, whatever its direction; in a solid it is the only pair.
    const auto same = [&](const PieceWitness& x) {
      return x.piece_A == closest.piece_A && x.piece_B == closest.piece_B;
    };
    const auto at = std::find_if(out.begin() + begin, out.end(), same);
    if (at != out.end())
      *at = closest;
    else if (closest.witness.distance < margin)
      out.push_back(closest);
  }
  std::sort(out.begin() + begin, out.end(), [](const PieceWitness& x, const PieceWitness& y) {
    return x.piece_A != y.piece_A ? x.piece_A < y.piece_A : x.piece_B < y.piece_B;
  });
}

}  // namespace robosim
