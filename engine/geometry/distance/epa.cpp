#include "geometry/distance/epa.h"

#include <algorithm>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "geometry/directions.h"

namespace robosim {
namespace {

constexpr int max_vertices = 800;
constexpr int max_epa_rounds = 24;           // about the best direction
constexpr int room_about = 200;              // vertices in each of these rounds
constexpr int max_faces = 2 * max_vertices;  // Euler: at most 2 V - 4
// Gap between the bounds, relative to the size of D, at which the caller is asked once for a proof.
constexpr double rough = 1e-2;
constexpr double apart = 0.95;  // cosine of the least angle between directions to start from
// Relative to the size of D: flat faces end at 1e-16, curved ones converge linearly.
constexpr double epa_tolerance = 1e-12;

struct Facet {
  int vertex[3], neighbor[3];  // neighbor[i] lies across the edge vertex[i] - vertex[i + 1]
  Vec3d n;                     // unit, outward
  double d;                    // signed distance of the face from the origin: n.x = d
  bool alive;
  bool about;  // n is within the cone of directions that are searched
};

struct Edge {
  int facet, side;
};

// Array of n objects that are constructed when needed: initializing hundreds of objects takes
// longer than a small polytope.
template <class T, int n>
class Room {
 public:
  Room() {}
  T& operator[](int i) { return items_[i]; }
  const T& operator[](int i) const { return items_[i]; }

 private:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  union {
    T items_[n];
  };
};

// Point of A at the origin of a flat D. GJK's simplex contains the origin; of four points in one
// plane, three contain it.
Vec3d point_of_touch(const Simplex& start) {
  Simplex best = start;
  double nearest = INFINITY;
  for (int without = start.n < 4 ? 3 : 0; without < 4; ++without) {
    Simplex s;
    for (int i = 0; i < start.n; ++i)
      if (i != without) s.add(start.w[i], start.a[i]);
    if (const double d = squared_norm(nearest_point(s)); d < nearest) {
      nearest = d;
      best = s;
    }
  }
  Vec3d a;
  for (int i = 0; i < best.n; ++i) a += best.lambda[i] * best.a[i];
  return a;
}

int next(int i) { return i == 2 ? 0 : i + 1; }

class Polytope {
 public:
  Polytope(const SupportFunction& D, const EpaGuess& guess) : D_(D), guess_(guess) {}

  Penetration solve(const Simplex& start);

 private:
  int add_vertex(const SupportPoint& p) {
    new (&vertices_[n_vertices_]) SupportPoint(p);
    return n_vertices_++;
  }
  bool grow_from(const Simplex& start);
  bool start_from(const SupportPoint& a, const SupportPoint& b, const SupportPoint& c,
                  const SupportPoint& d);
  int add_facet(int i, int j, int k);
  void link(int f, int i, int g, int j) {
    facets_[f].neighbor[i] = g;
    facets_[g].neighbor[j] = f;
  }
  bool expand(int f, const SupportPoint& p);
  void remove_visible(int f, int side, const Vec3d& w);
  // True if the facet or one of its neighbors is in the cone of directions.
  bool is_about(int f) const {
    const Facet& facet = facets_[f];
    return facet.about || facets_[facet.neighbor[0]].about || facets_[facet.neighbor[1]].about ||
           facets_[facet.neighbor[2]].about;
  }
  bool search(Penetration& best, double& lower, double known = INFINITY);
  bool is_proved_from(int f) const;
  // Start of a search for the shortest translation: a direction with its depth, and a facet near
  // it.
  struct Start {
    Vec3d direction;
    double depth = 0, lower = 0;  // depth in that direction, and the lower bound from the facet
    Simplex about;
  };
  static constexpr int max_starts = 8;
  int choose_starts(const Penetration& best, int about, Start* starts) const;
  Penetration refined(const Start& start, double known);
  void finish(Penetration& p, double lower) const;
  int facet_about(const Vec3d& direction) const;
  Simplex points_of(int f) const;
  void set_nearest_point(Penetration& p, double depth) const;

  const SupportFunction& D_;
  const EpaGuess& guess_;
  bool guessed_ = false;
  Room<SupportPoint, max_vertices> vertices_;
  Room<Facet, max_faces> facets_;
  // Distance of each facet from the origin, infinite for removed facets.
  Room<double, max_faces> distance_;
  Room<int, max_faces> free_;
  Room<Edge, max_faces> horizon_;
  int n_vertices_ = 0, n_facets_ = 0, n_free_ = 0, n_horizon_ = 0;
  double size_ = 0;  // of D's coordinates
  int room_ = max_vertices;
  Vec3d center_;       // axis of the cone of directions that are searched,
  double alike_ = -1;  // and the cosine of its angle; initially all directions
  Penetration flat_;
};

// Build the first tetrahedron: from GJK's points, then from support points in the directions that
// are still missing. Returns false if D itself is flat; the answer is then flat_.
bool Polytope::grow_from(const Simplex& start) {
  SupportPoint pool[4 + 6];
  int n = 0;
  for (int i = 0; i < start.n; ++i) pool[n++] = {start.w[i], start.a[i]};
  // Use GJK's own tetrahedron, unless it is thin.
  if (n == 4) {
    for (int i = 0; i < n; ++i) size_ = std::max(size_, norm(pool[i].w) + norm(pool[i].a));
    const Vec3d e1 = pool[1].w - pool[0].w, e2 = pool[2].w - pool[0].w, e3 = pool[3].w - pool[0].w;
    const double volume = dot(cross(e1, e2), e3), solid = 1e-3 * size_;
    if (std::fabs(volume) > solid * solid * solid)
      return volume > 0 ? start_from(pool[0], pool[1], pool[2], pool[3])
                        : start_from(pool[0], pool[2], pool[1], pool[3]);
  }
  // Support points along the six axes as further candidates.
  for (int i = 0; i < 6; ++i) {
    Vec3d axis;
    axis[i / 2] = i % 2 ? -1 : 1;
    pool[n++] = D_(axis);
  }
  for (int i = 0; i < n; ++i) size_ = std::max(size_, norm(pool[i].w) + norm(pool[i].a));
  const double thin = 1e-13 * size_;
  flat_.a = pool[0].a;
  if (start.n > 0) flat_.a = point_of_touch(start);

  // Choose the candidate farthest from the points chosen so far. GJK's points are preferred, as
  // their simplex contains the origin.
  auto choose = [&](auto&& distance) {
    int best = 0;
    double farthest = -1;
    for (int i = 0; i < n; ++i) {
      const double d = distance(pool[i].w);
      if (d > farthest) {
        farthest = d;
        best = i;
      }
      if (i + 1 == start.n && farthest > 1e-6 * size_) break;
    }
    return std::pair(best, farthest);
  };
  // Second point: farthest from the first one.
  const Vec3d p0 = pool[0].w;
  const auto [i1, d1] = choose([&](const Vec3d& w) { return norm(w - p0); });
  if (!(d1 > thin)) {
    flat_.direction = {0, 0, 1};
    return false;
  }
  const Vec3d p1 = pool[i1].w, u = (p1 - p0) * (1 / d1);
  // Third point: farthest from the line.
  auto [i2, d2] = choose([&](const Vec3d& w) { return norm(cross(u, w - p0)); });
  const Vec3d e = perpendicular(u);
  if (!(d2 > 1e-6 * size_)) {
    // D is thin about this line: add support points perpendicular to it.
    const Vec3d across[4] = {e, cross(u, e), -e, -cross(u, e)};
    for (int i = 0; i < 4; ++i) pool[n - 4 + i] = D_(across[i]);
    std::tie(i2, d2) = choose([&](const Vec3d& w) { return norm(cross(u, w - p0)); });
  }
  if (!(d2 > thin)) {
    flat_.direction = e;
    return false;
  }
  // Fourth point: above or below the triangle.
  const Vec3d p2 = pool[i2].w, m = unit_or(cross(p1 - p0, p2 - p0), e);
  const SupportPoint above = D_(m), below = D_(-m);
  const double up = dot(m, above.w - p0), down = -dot(m, below.w - p0);
  if (!(std::max(up, down) > thin)) {
    flat_.direction = m;
    return false;
  }
  // Take the side on which the origin lies, if D extends to that side. For a needle-shaped triangle
  // the heights are less accurate.
  const double origin = -dot(m, p0), known = std::max(thin, 1e-15 * size_ * (size_ / d2));
  const bool take_above =
      origin > known ? up > known : (origin < -known ? !(down > known) : up >= down);
  flat_.direction = m;
  return start_from(pool[0], pool[take_above ? i1 : i2], pool[take_above ? i2 : i1],
                    take_above ? above : below);
}

// Build a tetrahedron with d above (a, b, c).
bool Polytope::start_from(const SupportPoint& a, const SupportPoint& b, const SupportPoint& c,
                          const SupportPoint& d) {
  const int v[4] = {add_vertex(a), add_vertex(b), add_vertex(c), add_vertex(d)};
  const int f[4] = {add_facet(v[0], v[2], v[1]), add_facet(v[0], v[1], v[3]),
                    add_facet(v[1], v[2], v[3]), add_facet(v[2], v[0], v[3])};
  for (int i : f)
    if (i < 0) return false;
  link(f[0], 2, f[1], 0);
  link(f[0], 1, f[2], 0);
  link(f[0], 0, f[3], 0);
  link(f[1], 1, f[2], 2);
  link(f[2], 1, f[3], 2);
  link(f[3], 1, f[1], 2);
  return true;
}

// Returns -1 for a face without a normal, or if the capacity is exhausted.
int Polytope::add_facet(int i, int j, int k) {
  const Vec3d &a = vertices_[i].w, &b = vertices_[j].w, &c = vertices_[k].w;
  const Vec3d n = cross(b - a, c - a);
  const double nn = norm(n);
  if (!(nn > 0) || (n_free_ == 0 && n_facets_ == max_faces)) return -1;
  const int f = n_free_ > 0 ? free_[--n_free_] : n_facets_++;
  const Vec3d unit = n * (1 / nn);
  const double d = distance_[f] = dot(unit, a);
  new (&facets_[f]) Facet{{i, j, k}, {}, unit, d, true, dot(unit, center_) >= alike_};
  return f;
}

// Flood from a removed facet across its side. Visible facets are removed; the edges to the others
// form the horizon, counter-clockwise.
void Polytope::remove_visible(int f, int side, const Vec3d& w) {
  Facet& facet = facets_[f];
  if (!facet.alive) return;
  if (!(dot(facet.n, w) - facet.d > 1e-15 * size_)) {
    if (n_horizon_ < max_faces) horizon_[n_horizon_++] = {f, side};
    return;
  }
  facet.alive = false;
  distance_[f] = INFINITY;
  free_[n_free_++] = f;
  for (int s = 1; s < 3; ++s) {
    const int i = (side + s) % 3, g = facet.neighbor[i];
    for (int j = 0; j < 3; ++j)
      if (facets_[g].alive && facets_[g].neighbor[j] == f) {
        remove_visible(g, j, w);
        break;
      }
  }
}

// Add a support point beyond facet f. Returns false if the capacity is exhausted or rounding broke
// the polytope.
bool Polytope::expand(int f, const SupportPoint& p) {
  if (n_vertices_ == room_) return false;
  const int apex = add_vertex(p);
  // Remove all facets that the point sees.
  n_horizon_ = 0;
  Facet& seed = facets_[f];
  seed.alive = false;
  distance_[f] = INFINITY;
  free_[n_free_++] = f;
  for (int i = 0; i < 3; ++i) {
    const int g = seed.neighbor[i];
    for (int j = 0; j < 3; ++j)
      if (facets_[g].alive && facets_[g].neighbor[j] == f) {
        remove_visible(g, j, p.w);
        break;
      }
  }
  if (n_horizon_ < 3) return false;
  // Fan of facets from the apex over the horizon; consecutive facets are neighbors.
  int first = -1, previous = -1, last = -1;
  for (int h = 0; h < n_horizon_; ++h) {
    const auto [g, side] = horizon_[h];
    const int from = facets_[g].vertex[next(side)], to = facets_[g].vertex[side];
    if (previous >= 0 && from != last) return false;  // rounding broke the horizon
    last = to;
    const int facet = add_facet(from, to, apex);
    if (facet < 0) return false;
    link(facet, 0, g, side);
    if (previous >= 0)
      link(previous, 1, facet, 2);
    else
      first = facet;
    previous = facet;
  }
  link(previous, 1, first, 2);
  return true;
}

// Set the boundary point nearest to the origin, and its point of A. If several facets lie in the
// nearest plane, the facet that the origin projects into contains the point. Facets that are as
// near in another direction belong to that direction.
void Polytope::set_nearest_point(Penetration& p, double depth) const {
  Simplex best;
  // All facets count if the polytope broke before it had a facet in this direction.
  for (const double alike : {0.999, -1.0}) {
    double nearest = INFINITY;
    for (int i = 0; i < n_facets_; ++i) {
      const Facet& f = facets_[i];
      if (!f.alive || f.d > depth + 10 * epa_tolerance * size_ || dot(f.n, p.direction) < alike)
        continue;
      Simplex s;
      for (int k : f.vertex) s.add(vertices_[k].w, vertices_[k].a);
      const double d = squared_norm(nearest_point(s));
      if (d < nearest) {
        nearest = d;
        best = s;
      }
    }
    if (best.n > 0) break;
  }
  for (int k = 0; k < best.n; ++k) {
    p.a += best.lambda[k] * best.a[k];
    p.w += best.lambda[k] * best.w[k];
  }
  if (best.n > 0) return;
  const SupportPoint end = D_(p.direction);
  p.a = end.a;
  p.w = end.w;
}

Simplex Polytope::points_of(int f) const {
  Simplex s;
  for (const int k : facets_[f].vertex) s.add(vertices_[k].w, vertices_[k].a);
  return s;
}

bool Polytope::is_proved_from(int f) const {
  Penetration p;
  p.direction = facets_[f].n;
  p.depth = facets_[f].d;
  Simplex s = points_of(f);
  nearest_point(s);
  for (int k = 0; k < s.n; ++k) {
    p.a += s.lambda[k] * s.a[k];
    p.w += s.lambda[k] * s.w[k];
  }
  return guess_.proved(guess_.caller, p);
}

// Grow the polytope towards its nearest facet. Returns true once that facet is as deep as the best
// direction, or no facet is nearer than `known`; false if the capacity or the precision is
// exhausted. Considers only facets in the cone of directions, and their neighbors.
bool Polytope::search(Penetration& best, double& lower, double known) {
  while (true) {
    // Nearest facet, and the support point in its direction.
    int nearest = -1;
    double least = INFINITY;
    for (int f = 0; f < n_facets_; ++f)
      if (distance_[f] < least && is_about(f)) {
        nearest = f;
        least = distance_[f];
      }
    if (nearest < 0) return false;
    const Facet& facet = facets_[nearest];
    const SupportPoint p = D_(facet.n);
    const double h = dot(facet.n, p.w);
    if (h <= best.depth) {
      best.direction = facet.n;
      best.depth = h;
    }
    lower = facet.d;
    if (lower >= known) return true;
    // Ask the caller once for a proof.
    if (guess_.proved && !guessed_ && best.depth - lower <= rough * size_) {
      guessed_ = true;
      if (is_proved_from(nearest)) return best.proved = true;
    }
    if (best.depth - lower <= epa_tolerance * size_) {
      // Among equal depths, prefer the direction that has its facet.
      if (h - lower <= epa_tolerance * size_) {
        best.direction = facet.n;
        best.depth = h;
      }
      return true;
    }
    if (!expand(nearest, p)) return false;
  }
}

// Facet whose normal is nearest to a direction; -1 if there is none.
int Polytope::facet_about(const Vec3d& direction) const {
  int best = -1;
  for (int f = 0; f < n_facets_; ++f)
    if (facets_[f].alive &&
        (best < 0 || dot(facets_[f].n, direction) > dot(facets_[best].n, direction)))
      best = f;
  return best;
}

void Polytope::finish(Penetration& p, double lower) const {
  p.gap = p.depth - lower;
  set_nearest_point(p, lower);
}

// Choose the best direction so far, and the normals with the least depth among the facets nearer
// than that depth. No two starts are close to each other.
int Polytope::choose_starts(const Penetration& best, int about, Start* starts) const {
  starts[0] = {best.direction, best.depth, -INFINITY, points_of(about)};
  int n = 1;
  struct Normal {
    double depth;
    int facet;
  };
  Room<Normal, max_faces> normals;
  int n_normals = 0;
  for (int f = 0; f < n_facets_; ++f)
    if (distance_[f] < best.depth)
      new (&normals[n_normals++]) Normal{dot(facets_[f].n, D_(facets_[f].n).w), f};
  std::sort(&normals[0], &normals[0] + n_normals,
            [](const Normal& a, const Normal& b) { return a.depth < b.depth; });
  for (int i = 0; i < n_normals && n < max_starts; ++i) {
    const Facet& facet = facets_[normals[i].facet];
    if (std::any_of(starts, starts + n,
                    [&](const Start& s) { return dot(s.direction, facet.n) > apart; }))
      continue;
    starts[n++] = {facet.n, normals[i].depth, facet.d, points_of(normals[i].facet)};
  }
  return n;
}

// Refine one direction: all vertices are spent near it, in a cone that narrows once the direction
// stays. The result is locally the shortest translation. Stops early if no facet is nearer than
// `known`.
Penetration Polytope::refined(const Start& start, double known) {
  Penetration best;
  best.direction = start.direction;
  best.depth = start.depth;
  double angle = 0.3, lower = -INFINITY;
  Simplex about = start.about;
  for (int round = 0; round < max_epa_rounds; ++round) {
    const Vec3d before = best.direction;
    n_vertices_ = n_facets_ = n_free_ = 0;
    room_ = room_about;
    center_ = best.direction;
    alike_ = std::cos(angle);
    if (!grow_from(about) || search(best, lower, known) || n_vertices_ < room_) break;
    if (norm(best.direction - before) < 0.5 * angle) angle *= 0.2;
    const int nearest = facet_about(best.direction);
    if (nearest < 0) break;
    about = points_of(nearest);
  }
  finish(best, lower);
  return best;
}

Penetration Polytope::solve(const Simplex& start) {
  if (!grow_from(start)) {
    flat_.depth = std::max(0.0, dot(flat_.direction, D_(flat_.direction).w));
    return flat_;
  }
  Penetration best;
  best.depth = INFINITY;
  double lower = 0;
  const bool found = search(best, lower);
  if (best.proved) return best;
  if (found || n_vertices_ < room_) {
    finish(best, lower);
    return best;
  }
  // The capacity does not suffice, e.g. for round shapes that surround each other: many directions
  // are nearly as deep as the best. First ask the caller again for a proof, as the best direction
  // is more accurate than before. Without a proof, refine several good directions separately.
  if (guess_.least_deep) {
    const Vec3d direction = guess_.least_deep(guess_.caller);
    if (const double depth = dot(direction, D_(direction).w); depth < best.depth) {
      best.direction = direction;
      best.depth = depth;
    }
  }
  const int about = facet_about(best.direction);
  if (about < 0) {
    finish(best, lower);
    return best;
  }
  if (guess_.proved && is_proved_from(about)) {
    best.proved = true;
    return best;
  }
  Start starts[max_starts];
  const int n_starts = choose_starts(best, about, starts);
  best = refined(starts[0], INFINITY);
  for (int i = 1; i < n_starts; ++i) {
    if (starts[i].lower >= best.depth || dot(starts[i].direction, best.direction) > apart) continue;
    if (const Penetration p = refined(starts[i], best.depth); p.depth < best.depth) best = p;
  }
  return best;
}

}  // namespace

Penetration epa(const SupportFunction& D, const Simplex& start, const EpaGuess& guess) {
  return Polytope(D, guess).solve(start);
}

}  // namespace robosim
