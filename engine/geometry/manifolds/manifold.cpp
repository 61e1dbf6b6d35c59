#include "geometry/manifolds/manifold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "geometry/contact_derivatives.h"
#include "geometry/directions.h"
#include "geometry/manifolds/placed_patch.h"
#include "geometry/manifolds/turned_manifold.h"

namespace robosim {
namespace {

using Anchor = ManifoldPoint::Anchor;

bool is_same_normal(const Vec3d& a, const Vec3d& b) {
  constexpr double rounding = 1e-14;
  return squared_norm(a - b) <= rounding * rounding;
}

// Candidate of a manifold point, in the frame C of the contact.
struct PointCandidate {
  Anchor anchor;
  double gap, slide;
  FeatureId id[2];
  PlacedPatch::Exit exit[2];
  Vec3d core[2];   // of the corner's owner, or of both shapes at a crossing
  int side[2];     // index of the corner or side
  double part[2];  // fraction of the side
};

// Array of at most `most` candidates, each constructed when it is added.
class Candidates {
 public:
  static constexpr int most = 96;

  Candidates() {}
  int size() const { return n_; }
  PointCandidate& operator[](int i) { return items_[i]; }
  const PointCandidate& operator[](int i) const { return items_[i]; }
  void add(const PointCandidate& c) {
    if (n_ < most) std::construct_at(items_ + n_++, c);
  }
  void keep_first(int n) { n_ = n; }

 private:
  union {
    PointCandidate items_[most];
  };
  int n_ = 0;
};

// Sort key by features, the same whichever shape is A.
std::pair<std::uint64_t, std::uint64_t> key(const PointCandidate& c) {
  const auto number = [](const FeatureId& f) {
    return static_cast<std::uint64_t>(f.kind) << 56 | static_cast<std::uint64_t>(f.index) << 16 |
           static_cast<std::uint64_t>(f.part);
  };
  const std::uint64_t a = number(c.id[0]), b = number(c.id[1]);
  return {std::min(a, b), std::max(a, b)};
}

// Squared distance across the normal.
double across(const PointCandidate& a, const PointCandidate& b) {
  const double x = a.core[0].x - b.core[0].x, y = a.core[0].y - b.core[0].y;
  return x * x + y * y;
}

// Find corners and crossings of two patches with gaps within the margin.
class Finder {
 public:
  Finder(const PlacedPatch (&patches)[2], double margin, double size)
      : P_(patches), margin_(margin), on_(feature_tolerance * size), size_(size) {}

  void find() {
    for (int s = 0; s < 2; ++s)
      for (int i = 0; i < P_[s].patch.n_corners; ++i)
        for (int j = 0; j < P_[1 - s].n_sides; ++j)
          inside_[s][i][j] = P_[1 - s].inside(j, P_[s].corner[i]);
    for (int s = 0; s < 2; ++s)
      for (int i = 0; i < P_[s].patch.n_corners; ++i) corner(s, i);
    for (int i = 0; i < P_[0].n_sides; ++i)
      for (int j = 0; j < P_[1].n_sides; ++j) crossing(i, j);
  }
  void add(PointCandidate& c) {
    if (!(c.gap <= margin_)) return;
    for (int i = 0; i < found.size(); ++i)
      if (across(found[i], c) < merged * merged * size_ * size_) {
        if (before(c, found[i])) found[i] = c;
        return;
      }
    found.add(c);
  }
  double on() const { return on_; }

  Candidates found;

 private:
  static constexpr double merged = 1e-6;  // relative to the size

  // Order of two candidates at one place: the deeper one first, then the one farther from a change
  // of features.
  bool before(const PointCandidate& a, const PointCandidate& b) const {
    if (std::fabs(a.gap - b.gap) > on_) return a.gap < b.gap;
    if (std::fabs(a.slide - b.slide) > on_) return a.slide > b.slide;
    return key(a) < key(b);
  }

  // Add corner i of shape s over the patch of the other shape.
  void corner(int s, int i) {
    const int o = 1 - s;
    const PlacedPatch &own = P_[s], &other = P_[o];
    const Vec3d& p = own.corner[i];
    PointCandidate c;
    c.anchor = s == 0 ? Anchor::corner_A : Anchor::corner_B;
    c.id[s] = own.patch.corner_id[i];
    c.id[o] = other.patch.face;
    c.slide = LocalSurface::straight;
    // Find where the line leaves the other shape, and the feature of that shape.
    if (other.patch.kind == Patch::Kind::line) {
      int end = 0;
      const auto exit = other.beside_line(p, c.slide, end);
      if (!exit || c.slide < -on_) return;
      if (c.slide <= on_) c.id[o] = other.patch.corner_id[end];
      c.exit[o] = *exit;
    } else {
      for (int j = 0; j < other.n_sides; ++j) {
        const double room = inside_[s][i][j];
        if (room < -on_) return;
        // On a side, or on the corner of two sides; side 0 follows the last one.
        if (room <= on_ && c.slide > on_) {
          const double next = inside_[s][i][j + 1 == other.n_sides ? 0 : j + 1],
                       previous = inside_[s][i][other.n_sides - 1];
          if (next <= on_)
            c.id[o] = other.patch.corner_id[j + 1 == other.n_sides ? 0 : j + 1];
          else
            c.id[o] = j == 0 && previous <= on_ ? other.patch.corner_id[0] : other.patch.side_id[j];
        }
        c.slide = min_number(c.slide, room);
      }
      // Points near the outline: reject a point beyond a sharp corner, where the lines of the sides
      // run on. Evaluate a point barely outside at the outline, since a steep face falls off
      // quickly there.
      Vec3d over = p;
      if (c.slide <= on_) {
        const Vec3d nearest = other.nearest_on_sides(p);
        if (squared_norm(nearest - p) > on_ * on_) return;
        if (c.slide < 0) over = nearest;
      }
      c.exit[o] = other.over_face(over);
    }
    c.exit[s] = own.exit_from_corner(i);
    c.gap = c.exit[1].z - c.exit[0].z;
    c.core[0] = c.core[1] = p;
    if (c.slide <= on_) c.slide = 0;
    c.side[s] = i;
    c.side[o] = 0;
    c.part[0] = c.part[1] = 0;
    add(c);
  }

  // Add the crossing of side i of A and side j of B, if the ends of each side straddle the other.
  void crossing(int i, int j) {
    const int i_end = i + 1 == P_[0].patch.n_corners ? 0 : i + 1,
              j_end = j + 1 == P_[1].patch.n_corners ? 0 : j + 1;
    const double a0 = inside_[0][i][j], a1 = inside_[0][i_end][j], b0 = inside_[1][j][i],
                 b1 = inside_[1][j_end][i];
    const double a = min_number(std::fabs(a0), std::fabs(a1)),
                 b = min_number(std::fabs(b0), std::fabs(b1));
    if ((a0 > 0) == (a1 > 0) || (b0 > 0) == (b1 > 0) || !(min_number(a, b) > on_)) return;
    PointCandidate c;
    c.anchor = Anchor::crossing;
    c.slide = min_number(a, b);
    c.side[0] = i;
    c.side[1] = j;
    c.part[0] = a0 / (a0 - a1);
    c.core[0] = P_[0].corner[i] + c.part[0] * (P_[0].corner[i_end] - P_[0].corner[i]);
    // Take B's point beside A's. Nearly parallel sides do not determine where they cross, but they
    // do determine their heights.
    const Vec3d &from = P_[1].corner[j], along = P_[1].corner[j_end] - from;
    c.part[1] = ((c.core[0].x - from.x) * along.x + (c.core[0].y - from.y) * along.y) /
                (along.x * along.x + along.y * along.y);
    c.core[1] = {c.core[0].x, c.core[0].y, from.z + c.part[1] * along.z};
    c.id[0] = P_[0].patch.side_id[i];
    c.id[1] = P_[1].patch.side_id[j];
    for (int s = 0; s < 2; ++s) c.exit[s] = P_[s].exit_from(c.core[s]);
    c.gap = c.exit[1].z - c.exit[0].z;
    add(c);
  }

  const PlacedPatch (&P_)[2];
  const double margin_, on_, size_;
  // inside_[s][i][j]: distance of corner i of shape s inside of side j of the other shape.
  double inside_[2][Patch::max_corners][Patch::max_corners];
};

// Keep max_points candidates: the deepest first, then always the one farthest from those chosen.
// Among equal candidates, the first by its features is chosen.
void spread(Candidates& all, double equal) {
  double distance[Candidates::most];
  const int n = all.size();
  int next = 0;
  for (int i = 1; i < n; ++i)
    if (all[i].gap < all[next].gap - equal ||
        (all[i].gap < all[next].gap + equal && key(all[i]) < key(all[next])))
      next = i;
  std::fill_n(distance, n, LocalSurface::straight);
  for (int chosen = 0; chosen < Manifold::max_points; ++chosen) {
    std::swap(all[chosen], all[next]);
    std::swap(distance[chosen], distance[next]);
    next = chosen + 1;
    for (int i = chosen + 1; i < n; ++i) {
      distance[i] = min_number(distance[i], across(all[i], all[chosen]));
      const double more = 1e-9 * distance[next];
      if (distance[i] > distance[next] + more ||
          (distance[i] > distance[next] - more && key(all[i]) < key(all[next])))
        next = i;
    }
  }
  all.keep_first(Manifold::max_points);
}

FeatureId id_of(const LocalSurface& s) { return {s.kind, s.index, 0}; }

// Shape whose face has the normal according to the deepest points (Manifold::reference), or -1.
int reference_face(const PlacedPatch (&P)[2], const Candidates& found, double deepest, double on) {
  for (int s = 0; s < 2; ++s) {
    const Patch::Kind kind = P[s].patch.kind;
    if (kind != Patch::Kind::polygon && kind != Patch::Kind::plane) continue;
    if (std::hypot(P[s].normal.x, P[s].normal.y) > feature_tolerance) continue;
    bool holds = true;
    for (int i = 0; i < found.size() && holds; ++i) {
      const PointCandidate& c = found[i];
      if (c.gap > deepest + on) continue;
      if (c.anchor == Anchor::witness)
        holds = c.id[s].kind == FeatureKind::face && c.id[1 - s].kind != FeatureKind::face &&
                c.slide > 0;
      else
        holds = c.anchor == (s == 0 ? Anchor::corner_B : Anchor::corner_A) &&
                c.slide > max_number(on, P[1 - s].patch.bulge);
    }
    if (holds) return s;
  }
  return -1;
}

// Return true if n may be the normal of this face, which must be perpendicular to n within
// most_lean. Faces of several triangles are only nearly flat and do not qualify. The normal of two
// edges that barely cross leans more than the faces of these edges do.
bool may_lie_flat(const PlacedPatch& patch) {
  constexpr double most_lean = 1e-3;
  const bool is_face =
      patch.patch.kind == Patch::Kind::polygon || patch.patch.kind == Patch::Kind::plane;
  return is_face && !patch.patch.bent && std::hypot(patch.normal.x, patch.normal.y) <= most_lean;
}

// Area as seen along the normal; infinite for a plane.
double area(const PlacedPatch& patch) {
  if (!patch.is_polygon()) return LocalSurface::straight;
  double twice = 0;
  const Vec3d& first = patch.corner[0];
  for (int i = 1; i + 1 < patch.patch.n_corners; ++i)
    twice += cross(patch.corner[i] - first, patch.corner[i + 1] - first).z;
  return 0.5 * std::fabs(twice);
}

// Select, of two faces that lie flat on each other, the face whose normal all points get. It is the
// face over which all corners of the other one lie, or else follows from Manifold::reference.
int face_of_two(const PlacedPatch (&P)[2], const Shape& A, const Shape& B, const Candidates& found,
                double on) {
  constexpr double larger = 1.001;
  for (int s = 0; s < 2; ++s) {
    bool holds = true;
    for (int i = 0; i < found.size() && holds; ++i)
      holds = found[i].anchor == (s == 0 ? Anchor::corner_B : Anchor::corner_A) &&
              found[i].slide > max_number(on, P[1 - s].patch.bulge);
    if (holds) return s;
  }
  const bool triangles[2] = {A.type == ShapeType::triangle, B.type == ShapeType::triangle};
  if (triangles[0] != triangles[1]) return triangles[1];
  const double areas[2] = {area(P[0]), area(P[1])};
  if (areas[0] > larger * areas[1] || areas[1] > larger * areas[0]) return areas[1] > areas[0];
  return P[1].patch.face.index < P[0].patch.face.index;
}

// Shape on whose face a face or an edge of the other shape lies flat, or -1.
int flat_face(const PlacedPatch (&P)[2], const Shape& A, const Shape& B, const Candidates& found,
              double on) {
  const bool may[2] = {may_lie_flat(P[0]), may_lie_flat(P[1])};
  if (may[0] && may[1] && norm(P[0].normal + P[1].normal) <= Manifold::flat_faces)
    return face_of_two(P, A, B, found, on);
  return may[0] == may[1] ? -1 : may[1];
}

// Two shapes in the frame C of a contact, with its origin at `origin` and z along the normal.
struct FacingPatches {
  const Shape* shape[2];
  SE3d X_WS[2];
  Vec3d origin;
  const Vec3d* facing = nullptr;  // directions of the patches; null for the normal and its opposite
  PlacedPatch P[2];
  Mat3d R_CW;
  double size = LocalSurface::straight;  // of the smaller shape

  FacingPatches(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                const Vec3d& origin)
      : shape{&A, &B}, X_WS{X_WA, X_WB}, origin(origin) {
    for (const Shape* s : shape)
      size =
          min_number(size, visit(*s, [](const auto& core) { return core.bounding_ball().radius; }));
    if (!std::isfinite(size)) size = 1;
  }

  // Place both patches along n. Return true if both shapes have a patch there.
  bool look_along(const Vec3d& n) {
    const Vec3d t0 = perpendicular(n), t1 = cross(n, t0);
    R_CW = Mat3d(t0, t1, n);
    bool any = true;
    for (int s = 0; s < 2; ++s) {
      P[s].up = s ? -1 : 1;
      P[s].X_CS = {R_CW * X_WS[s].R, R_CW * (X_WS[s].p - origin)};
      P[s].patch.clear();
      visit(*shape[s], [&](const auto& core) {
        const Vec3d towards = P[s].up * n;
        if constexpr (requires { core.patch(t0, P[s].patch); }) {
          core.patch(transpose_times(X_WS[s].R, facing ? facing[s] : towards), P[s].patch);
          // A line of a curved surface would turn with `facing`, so its points would depend on the
          // velocity. Faces do not.
          if (facing && (P[s].patch.swing[0] != 0 || P[s].patch.swing[1] != 0)) {
            P[s].patch.clear();
            core.patch(transpose_times(X_WS[s].R, towards), P[s].patch);
          }
        }
        P[s].rounding = core.rounding();
      });
      any &= P[s].patch.kind != Patch::Kind::none;
    }
    for (int s = 0; s < 2 && any; ++s) P[s].place();
    return any && P[0].patch.kind != Patch::Kind::none && P[1].patch.kind != Patch::Kind::none;
  }
};

// Write the points that were found to m, in W and in the order of their features. The normal,
// witness and reference of m must be set.
void give_points(const FacingPatches& patches, const Candidates& found, Manifold& m) {
  const PlacedPatch(&P)[2] = patches.P;
  m.n_points = found.size();
  m.deepest = 0;
  // Sort the candidates by their features.
  int order[Manifold::max_points];
  for (int i = 0; i < m.n_points; ++i) {
    int k = i;
    for (; k > 0 && key(found[i]) < key(found[order[k - 1]]); --k) order[k] = order[k - 1];
    order[k] = i;
  }
  // Transform each point and its traces to W.
  const SE3d X_WC(transpose(patches.R_CW), patches.origin);
  for (int i = 0; i < m.n_points; ++i) {
    const PointCandidate& c = found[order[i]];
    ManifoldPoint& x = *std::construct_at(&m.points[i]);
    x.gap = c.gap;
    x.slide = c.slide;
    x.anchor = c.anchor;
    if (c.gap < m.points[m.deepest].gap) m.deepest = i;
    x.feature[0] = c.id[0];
    x.feature[1] = c.id[1];
    if (c.anchor == Anchor::witness) {
      x.p_WA = m.witness.p_WA;
      x.p_WB = m.witness.p_WB;
      x.trace[0].out = m.witness.normal;
      x.trace[1].out = -m.witness.normal;
    } else {
      x.p_WA = X_WC * Vec3d(c.core[0].x, c.core[0].y, c.exit[0].z);
      x.p_WB = x.p_WA + c.gap * m.n;
      for (int s = 0; s < 2; ++s) {
        const PlacedPatch& own = P[s];
        ManifoldPoint::Trace& trace = x.trace[s];
        trace.core = X_WC * c.core[s];
        trace.out = X_WC.R * c.exit[s].normal;
        trace.face = X_WC.R * own.normal;
        const int from = c.side[s], to = from + 1 == own.patch.n_corners ? 0 : from + 1;
        if (c.anchor == Anchor::crossing)
          trace.along = X_WC.R * unit_or(own.corner[to] - own.corner[from], {1, 0, 0});
        const bool owns = c.anchor == Anchor::crossing ||
                          c.anchor == (s == 0 ? Anchor::corner_A : Anchor::corner_B);
        if (owns && own.patch.kind == Patch::Kind::line) {
          const double radius =
              own.patch.swing[from] + c.part[s] * (own.patch.swing[to] - own.patch.swing[from]);
          trace.swing = std::sqrt(radius) * (X_WC.R * (own.X_CS.R * own.patch.round));
        }
      }
    }
  }
  // Project the points onto the manifold's plane.
  const Vec3d origin = m.plane_point();
  for (int i = 0; i < m.n_points; ++i) {
    ManifoldPoint& x = m.points[i];
    x.p_W = x.p_WA + dot(m.n, origin - x.p_WA) * m.n;
  }
}

// Compute the manifold of a witness. facing: directions of the patches; null for the normal and its
// opposite.
Manifold manifold_facing(const Witness& w, const Shape& A, const SE3d& X_WA, const Shape& B,
                         const SE3d& X_WB, double margin, const Vec3d* facing) {
  Manifold m;
  m.witness = w;
  m.n = w.normal;
  if (!(w.distance <= margin) || !std::isfinite(w.distance)) return m;

  // Find the points along the normal of the witness.
  FacingPatches patches(A, X_WA, B, X_WB, w.p_WA);
  patches.facing = facing;
  PlacedPatch(&P)[2] = patches.P;
  const double size = patches.size;
  const auto look_along = [&](const Vec3d& n) {
    m.n = n;
    return patches.look_along(n);
  };
  const bool any = look_along(w.normal);
  Finder finder(P, margin, size);
  Candidates& found = finder.found;
  if (any) finder.find();
  const auto deepest_found = [&] {
    double least = LocalSurface::straight;
    for (int i = 0; i < found.size(); ++i) least = min_number(least, found[i].gap);
    return least;
  };
  // Search again along the normal n of a face, unless it is the present normal. Return true if the
  // faces have points in common.
  const auto find_along = [&](const Vec3d& n) {
    if (is_same_normal(n, m.n)) return true;
    found.keep_first(0);
    if (look_along(n)) finder.find();
    return found.size() > 0;
  };
  // Search along the normal of a face that lies flat on the other shape. Return to the normal of
  // the witness if there are no two deepest points, or if their depth differs from the witness's.
  double enough = finder.on();
  int flat = found.size() > 1 ? flat_face(P, A, B, found, finder.on()) : -1;
  if (flat >= 0) {
    const double lean = Manifold::flat_faces * size;
    const bool are_two = may_lie_flat(P[1 - flat]),
               is_any = find_along(transpose_times(patches.R_CW, P[flat].up * P[flat].normal));
    // The lowest point of a rim that lies flat is no point of its own.
    const double deepest = deepest_found(), depth = enough + (are_two ? lean : 0);
    int deep = 0;
    for (int i = 0; i < found.size(); ++i) deep += found[i].gap <= deepest + finder.on() + lean;
    const bool is_as_deep = deepest <= w.distance + depth && deepest >= w.distance - lean;
    if (is_any && deep > 1 && is_as_deep)
      enough = depth;
    else {
      flat = -1;
      find_along(w.normal);
    }
  }

  // Add the witness where no corner or crossing is as deep. Let it replace a point at the same
  // place whose features are about to change, since the witness knows its features.
  double deepest = deepest_found();
  const bool is_along_witness = is_same_normal(m.n, w.normal);
  int at_witness = -1;
  for (int i = 0; i < found.size(); ++i) {
    if (is_along_witness && found[i].slide == 0 &&
        across(found[i], PointCandidate{}) < finder.on() * finder.on())
      at_witness = i;
  }
  if (deepest > w.distance + enough || at_witness >= 0) {
    const LocalSurface on_A = local_surface(A, X_WA, w.p_WA, w.normal),
                       on_B = local_surface(B, X_WB, w.p_WB, -w.normal);
    PointCandidate c{};
    c.anchor = Anchor::witness;
    c.gap = deepest = w.distance;
    c.slide = min_number(on_A.slide, on_B.slide);
    if (c.slide <= finder.on()) c.slide = 0;
    c.id[0] = id_of(on_A);
    c.id[1] = id_of(on_B);
    if (at_witness >= 0)
      found[at_witness] = c;
    else
      finder.add(c);
  }
  if (found.size() > Manifold::max_points) spread(found, finder.on());
  m.reference = flat >= 0 ? flat : reference_face(P, found, deepest, finder.on());

  give_points(patches, found, m);
  return m;
}

}  // namespace

Manifold contact_manifold(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                          double margin, PairCache* cache) {
  return contact_manifold(signed_distance(A, X_WA, B, X_WB, cache), A, X_WA, B, X_WB, margin);
}

Manifold contact_manifold(const Witness& w, const Shape& A, const SE3d& X_WA, const Shape& B,
                          const SE3d& X_WB, double margin) {
  return manifold_facing(w, A, X_WA, B, X_WB, margin, nullptr);
}

Manifold turned_manifold(const Witness& w, const Shape& A, const SE3d& X_WA, const Shape& B,
                         const SE3d& X_WB, double margin, const Vec3d (&facing)[2]) {
  return manifold_facing(w, A, X_WA, B, X_WB, margin, facing);
}

Manifold face_manifold(int side, const Vec3d& n, const Shape& A, const SE3d& X_WA, const Shape& B,
                       const SE3d& X_WB, double least, double margin) {
  Manifold m;
  m.n = n;
  m.reference = side;
  FacingPatches patches(A, X_WA, B, X_WB, side ? X_WB.p : X_WA.p);
  if (!patches.look_along(n)) return m;
  Finder finder(patches.P, margin, patches.size);
  finder.find();
  Candidates& found = finder.found;
  int kept = 0;
  for (int i = 0; i < found.size(); ++i)
    if (found[i].gap >= least) found[kept++] = found[i];
  found.keep_first(kept);
  if (kept > Manifold::max_points) spread(found, finder.on());
  give_points(patches, found, m);
  if (kept > 0) {
    const ManifoldPoint& x = m.points[m.deepest];
    m.witness = {x.gap, x.p_WA, x.p_WB, n};
  }
  return m;
}

}  // namespace robosim
