#include "geometry/manifolds/manifold_derivatives.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

using Anchor = ManifoldPoint::Anchor;

// Effect of one parameter of one shape. It moves the point of the core by u_core and the surface at
// the manifold's point by u_out, and turns the normal by dn. A normal fixed to it turns by w.
struct Motion {
  Vec3d u_core, u_out, dn, w;
};

// Return the rate at which the surface moves along n, per unit of a rounding that begins at zero,
// at a point of the core's corner or side where n points outward. The rate is 1 where n is in the
// corner's normal cone. Otherwise it is that of the normal in the cone nearest to n, which follows
// from the nearest point of the shape to a point a little farther out.
double first_rounding(const Shape& shape, const SE3d& X, const Vec3d& core, const Vec3d& n) {
  // [m] ten times the smallest radius of a sphere.
  const double out = std::max(1e-4 * bounding_ball(shape).radius, 1e-8);
  const Witness w =
      signed_distance(shape, X, Shape::sphere(0.1 * out), SE3d(Mat3d::identity(), core + out * n));
  const double along = dot(w.normal, n);
  return w.distance > 0 && along > 0 ? 1 / along : 1;
}

// Derivatives of one point with respect to parameters.
class PointResponse {
 public:
  PointResponse(const ManifoldPoint& x, const Vec3d& n) : x_(x), n_(n) {
    first_ = x.anchor == Anchor::corner_B;
    for (int s = 0; s < 2; ++s) {
      const Vec3d& m = x.trace[s].out;
      across_[s] = (1 / dot(m, n)) * m;
      reach_[s] = dot(n, (s ? x.p_WB : x.p_WA) - x.trace[first_].core);
    }
    crosses_ = x.anchor == Anchor::crossing;
    swings_ = squared_norm(x.trace[0].swing) + squared_norm(x.trace[1].swing) > 0;
    if (crosses_) {
      const Vec3d c = cross(n, x.trace[1].along);
      crossing_ = (1 / dot(x.trace[0].along, c)) * c;
      between_ = dot(n, x.trace[1].core - x.trace[0].core);
    }
  }

  void operator()(int side, const Motion& motion, WitnessRate& out) const {
    Vec3d dy = core_rate(first_, side, motion);
    if (crosses_)
      dy += dot(core_rate(1, side, motion) - dy - between_ * motion.dn, crossing_) *
            x_.trace[0].along;
    double dz[2];
    for (int s = 0; s < 2; ++s) {
      // Motion of the point at a fixed height on the line.
      const Vec3d at = mul_add(reach_[s], motion.dn, dy);
      dz[s] = dot(across_[s], s == side ? motion.u_out - at : -at);
      (s ? out.p_WB : out.p_WA) = mul_add(dz[s], n_, at);
    }
    out.distance = dz[1] - dz[0];
    out.normal = motion.dn;
  }

 private:
  Vec3d core_rate(int s, int side, const Motion& motion) const {
    Vec3d rate;
    if (s == side) rate = motion.u_core;
    if (swings_) {
      const Vec3d& swing = x_.trace[s].swing;
      rate += ((s ? -1 : 1) * dot(swing, s == side ? motion.dn - motion.w : motion.dn)) * swing;
    }
    return rate;
  }

  const ManifoldPoint& x_;
  const Vec3d n_;
  bool crosses_, swings_;
  int first_;        // shape whose trace is the anchor y
  Vec3d across_[2];  // m / (m . n)
  double reach_[2];  // h
  Vec3d crossing_;   // (n x d_B) / (d_A . (n x d_B))
  double between_ = 0;
};

// Rates of the normal and the plane: those of the witness, or those of the reference face.
class FrameRates {
 public:
  // of_witness: null if nothing depends on the witness.
  FrameRates(const Manifold& m, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
             const WitnessDerivatives* of_witness)
      : reference_(m.reference), n_(m.normal()), origin_(m.plane_point()), d_(of_witness) {
    if (reference_ < 0) return;
    shape_ = reference_ ? &B : &A;
    X_ = reference_ ? &X_WB : &X_WA;
    out_ = m.points[m.deepest].trace[reference_].out;
    if (!shape_->has_vertices()) return;
    origin_ = within_face();
    face_ = local_surface(*shape_, *X_, origin_, out_);
  }
  const Vec3d& origin() const { return origin_; }
  bool one_sided(const ManifoldPoint& x) const {
    return (reference_ < 0 || x.anchor == Anchor::witness) && d_->one_sided;
  }
  // Derivatives of the witness, all zero if nothing depends on them.
  const WitnessDerivatives& witness() const {
    static const WitnessDerivatives none;
    return d_ ? *d_ : none;
  }
  // Feature of a convex mesh or a triangle, with the vertices that turn the normal, move the plane,
  // or belong to the witness.
  const LocalSurface& feature(int side, bool of_witness) const {
    return reference_ < 0 || of_witness ? (side ? d_->B : d_->A)
                                        : (side == reference_ ? face_ : none_);
  }

  struct Rate {
    Vec3d normal, origin;
  };
  Rate twist(int side, int k) const {
    if (reference_ < 0) return of(d_->twist[6 * side + k]);
    if (side != reference_) return {};
    const Vec3d axis = X_->R.col(k % 3);
    if (k < 3) return {{}, axis};
    return {cross(axis, n_), cross(axis, origin_ - X_->p)};
  }
  Rate size(int side, int k) const {
    if (reference_ < 0) return of(d_->size[side][k]);
    if (side != reference_) return {};
    return {{}, visit(*shape_, [&](const auto& core) -> Vec3d {
              if constexpr (requires { core.stretch(k, n_, n_); }) {
                const Vec3d foot = transpose_times(X_->R, origin_ - core.rounding() * out_ - X_->p);
                return X_->R * core.stretch(k, foot, transpose_times(X_->R, out_));
              }
              return {};
            })};
  }
  Rate scale(int side) const {
    if (reference_ < 0) return of(d_->scale[side]);
    return {{}, side == reference_ ? origin_ - X_->p : Vec3d()};
  }
  // Rate in coordinate k of corner i of the feature.
  Rate corner(int side, int i, int k) const {
    if (reference_ < 0) return of(d_->corner[side][i][k]);
    if (side != reference_) return {};
    const Vec3d axis = X_->R.col(k);
    return {-dot(axis, n_) * face_.corner[i].slope, face_.corner[i].weight * axis};
  }

 private:
  // Return a point of the reference face off its outline. All points of the manifold may lie on the
  // outline, where an edge has only two of the vertices that turn the face.
  Vec3d within_face() const {
    return visit(*shape_, [&](const auto& core) {
      Vec3d p = transpose_times(X_->R, origin_ - X_->p);
      if constexpr (requires(Patch & patch) { core.patch(out_, patch); }) {
        const Vec3d out = transpose_times(X_->R, out_);
        Patch face;
        core.patch(out, face);
        p = core.rounding() * out;
        for (int i = 0; i < face.n_corners; ++i) p += (1.0 / face.n_corners) * face.corner[i];
      }
      return *X_ * p;
    });
  }
  static Rate of(const WitnessRate& r) { return {r.normal, 0.5 * (r.p_WA + r.p_WB)}; }

  const int reference_;
  const Vec3d n_;
  Vec3d origin_;                  // on the plane
  const Shape* shape_ = nullptr;  // of the reference face
  const SE3d* X_ = nullptr;
  Vec3d out_;
  LocalSurface face_, none_;
  const WitnessDerivatives* d_;
};

bool needs_witness(const Manifold& m) {
  bool has_witness = m.reference < 0;
  for (int i = 0; i < m.n_points; ++i) has_witness |= m.points[i].anchor == Anchor::witness;
  return has_witness;
}

// Vertices that move a point of a convex mesh or a triangle, and the shares of that motion in the
// core's point and in the surface's point.
struct Weights {
  int n = 0;
  int vertex[ManifoldPointDerivatives::max_corners];
  double core[ManifoldPointDerivatives::max_corners], out[ManifoldPointDerivatives::max_corners];
  // Index among the corners that turn the normal, or -1.
  int of_normal[ManifoldPointDerivatives::max_corners];

  int find(int v) {
    for (int i = 0; i < n; ++i)
      if (vertex[i] == v) return i;
    vertex[n] = v;
    core[n] = out[n] = 0;
    of_normal[n] = -1;
    return n++;
  }
};

// Weights of the vertices of one shape at a point of the manifold.
Weights weights_of(const ManifoldPoint& x, int side, const Shape& shape, const SE3d& X,
                   const LocalSurface& of_normal) {
  Weights w;
  for (int c = 0; c < of_normal.n_corners; ++c) w.of_normal[w.find(of_normal.corner[c].vertex)] = c;
  if (x.anchor == Anchor::witness) return w;
  const ManifoldPoint::Trace& trace = x.trace[side];
  const Vec3d& p = side ? x.p_WB : x.p_WA;
  const LocalSurface at = local_surface(shape, X, p, trace.out);
  for (int c = 0; c < at.n_corners; ++c) w.out[w.find(at.corner[c].vertex)] += at.corner[c].weight;
  if (x.anchor == (side ? Anchor::corner_A : Anchor::corner_B)) return w;
  // Find the core's feature by the face that it bounds: the rounding above the core's point may
  // belong to another feature.
  const double rounding = visit(shape, [](const auto& core) { return core.rounding(); });
  const LocalSurface core = local_surface(shape, X, trace.core + rounding * trace.face, trace.face);
  for (int c = 0; c < core.n_corners; ++c)
    w.core[w.find(core.corner[c].vertex)] += core.corner[c].weight;
  return w;
}

// Fill in all rates. witness_rates: null if nothing depends on them.
void fill(const Manifold& manifold, const Shape& A, const SE3d& X_WA, const Shape& B,
          const SE3d& X_WB, const WitnessDerivatives* witness_rates, ManifoldDerivatives& out,
          const DerivativesWanted& wanted) {
  const auto count = static_cast<std::size_t>(manifold.n_points);
  if (out.points.size() < count) out.points.resize(count);
  const Vec3d& n = manifold.normal();
  const FrameRates frame(manifold, A, X_WA, B, X_WB, witness_rates);
  const WitnessDerivatives& of_witness = frame.witness();

  for (int i = 0; i < manifold.n_points; ++i) {
    const ManifoldPoint& x = manifold.points[i];
    ManifoldPointDerivatives& d = out.points[i];
    const PointResponse response(x, n);
    const Vec3d to_plane = frame.origin() - x.p_WA;
    const double up_to_plane = dot(n, to_plane);
    d.one_sided = frame.one_sided(x) || !(x.slide > 0);
    for (int side = 0; side < 2; ++side) {
      d.n_corners[side] = 0;
      if (!wanted.pose[side]) std::fill_n(d.twist + 6 * side, 6, ManifoldRate());
      if (!wanted.pose[side] && !wanted.shapes) continue;
      const SE3d& X = side ? X_WB : X_WA;
      const Shape& shape = side ? B : A;
      const ManifoldPoint::Trace& trace = x.trace[side];
      const Vec3d core_arm = trace.core - X.p, arm = (side ? x.p_WB : x.p_WA) - X.p;
      // Set the rate of a parameter that moves the core's point by u_core and the surface by u_out,
      // and turns the normal by w if it is fixed to the shape. A witness point takes the rate of
      // the witness.
      const auto rate = [&](ManifoldRate& r, const FrameRates::Rate& f, const Vec3d& u_core,
                            const Vec3d& u_out, const Vec3d& w, const WitnessRate& witness) {
        if (x.anchor == Anchor::witness)
          static_cast<WitnessRate&>(r) = witness;
        else
          response(side, {u_core, u_out, f.normal, w}, r);
        r.p_W = r.p_WA + up_to_plane * f.normal +
                (dot(f.normal, to_plane) + dot(n, f.origin - r.p_WA)) * n;
      };
      // Pose.
      for (int k = 0; k < 3 && wanted.pose[side]; ++k) {
        const Vec3d axis = X.R.col(k);
        const int linear = 6 * side + k, angular = linear + 3;
        rate(d.twist[linear], frame.twist(side, k), axis, axis, {}, of_witness.twist[linear]);
        rate(d.twist[angular], frame.twist(side, 3 + k), cross(axis, core_arm), cross(axis, arm),
             cross(axis, n), of_witness.twist[angular]);
      }
      if (!wanted.shapes) continue;
      // Scale and sizes.
      rate(d.scale[side], frame.scale(side), core_arm, arm, {}, of_witness.scale[side]);

      visit(shape, [&](const auto& core) {
        if constexpr (requires { core.n_sizes; }) {
          out.n_sizes[side] = core.n_sizes;
          // Points of the core and the normal, in the shape's frame.
          const Vec3d y = transpose_times(X.R, core_arm), m = transpose_times(X.R, trace.out);
          const Vec3d foot = transpose_times(X.R, arm - core.rounding() * trace.out);
          // Shapes that their last size rounds.
          const bool can_round = shape.type == ShapeType::box || shape.type == ShapeType::convex ||
                                 shape.type == ShapeType::triangle;
          const bool is_sharp = x.anchor == Anchor::crossing ||
                                x.anchor == (side ? Anchor::corner_B : Anchor::corner_A);
          const bool begins_to_round = can_round && is_sharp && core.rounding() == 0;
          for (int k = 0; k < core.n_sizes; ++k) {
            Vec3d u_core, u_out;
            if constexpr (requires { core.stretch(k, y, m); }) {
              u_core = X.R * core.stretch(k, y, Vec3d());
              u_out = X.R * core.stretch(k, foot, m);
            }
            if (k + 1 == core.n_sizes && begins_to_round) {
              const Vec3d way_out = side ? -n : n;
              u_out = first_rounding(shape, X, trace.core, way_out) * way_out;
            }
            rate(d.size[side][k], frame.size(side, k), u_core, u_out, {}, of_witness.size[side][k]);
          }
        }
      });

      // Vertices of meshes.
      if (!shape.has_vertices()) continue;
      const Weights weights =
          weights_of(x, side, shape, X, frame.feature(side, x.anchor == Anchor::witness));
      d.n_corners[side] = weights.n;
      for (int c = 0; c < weights.n; ++c) {
        d.vertex[side][c] = weights.vertex[c];
        const int of_normal = weights.of_normal[c];
        for (int k = 0; k < 3; ++k) {
          const Vec3d axis = X.R.col(k);
          const FrameRates::Rate f =
              of_normal < 0 ? FrameRates::Rate() : frame.corner(side, of_normal, k);
          const WitnessRate& witness = of_witness.corner[side][std::max(of_normal, 0)][k];
          rate(d.corner[side][c][k], f, weights.core[c] * axis, weights.out[c] * axis, {}, witness);
        }
      }
    }
  }
}

}  // namespace

void manifold_derivatives(const Manifold& manifold, const Shape& A, const SE3d& X_WA,
                          const Shape& B, const SE3d& X_WB, ManifoldDerivatives& out) {
  const auto of_witness = [&] { return witness_derivatives(manifold.witness, A, X_WA, B, X_WB); };
  manifold_derivatives(manifold, A, X_WA, B, X_WB, of_witness, out);
}

void manifold_derivatives(const Manifold& manifold, const Shape& A, const SE3d& X_WA,
                          const Shape& B, const SE3d& X_WB,
                          FunctionRef<WitnessDerivatives()> of_witness, ManifoldDerivatives& out,
                          const DerivativesWanted& wanted) {
  out.n_points = manifold.n_points;
  out.n_sizes[0] = out.n_sizes[1] = 0;
  if (manifold.n_points == 0) return;
  if (!needs_witness(manifold)) return fill(manifold, A, X_WA, B, X_WB, nullptr, out, wanted);
  const WitnessDerivatives witness = of_witness();  // 3 kB, constructed in place
  fill(manifold, A, X_WA, B, X_WB, &witness, out, wanted);
}

}  // namespace robosim
