#include "geometry/bodies/winding.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"

namespace robosim {
namespace {

constexpr double far = 2.0;  // radii from which triangles are summed as a dipole: beta of Barill et
                             // al.

// Call f(corners in B) if the piece is a triangle of a surface.
template <class F>
void with_corners(const Compound& body, int piece, F&& f) {
  body.with_piece(piece, [&](const Compound::Piece& P) {
    if (!P.surface) return;
    const TriangleSurface::Corners c = P.surface->corners(P.triangle);
    f(P.X_BP * c[0], P.X_BP * c[1], P.X_BP * c[2]);
  });
}

// Sum of the solid angles of triangles seen from the origin, positive from behind (Van Oosterom and
// Strackee, 1983). Each angle is twice the argument of a complex number. Numbers with arguments
// below a quarter turn are multiplied while that of the product is, too: one arctangent serves many
// triangles.
class SolidAngles {
 public:
  void add(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const double la = norm(a), lb = norm(b), lc = norm(c);
    const double over = dot(a, cross(b, c)),
                 under = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    if (!(under > 0)) {
      half_ += std::atan2(over, under);
      return;
    }
    const double x = x_ * under - y_ * over;
    y_ = x_ * over + y_ * under;
    x_ = x;
    if (!(x_ > 1e-100 && x_ + std::fabs(y_) < 1e100)) take();
  }
  double sum() {
    take();
    return 2 * half_;
  }

 private:
  void take() {
    half_ += std::atan2(y_, x_);
    x_ = 1;
    y_ = 0;
  }
  double x_ = 1, y_ = 0;  // the product
  double half_ = 0;       // sum of the half angles that are not in the product
};

}  // namespace

WindingNumber::WindingNumber(const Compound& body) : dipoles_(body.tree().nodes().size()) {
  const AabbTree& tree = body.tree();
  std::vector<double> sizes(dipoles_.size());  // sums of the areas [m^2]
  // Children come after their parents.
  for (std::size_t i = dipoles_.size(); i-- > 0;) {
    const AabbTree::Node& node = tree.nodes()[i];
    Dipole& dipole = dipoles_[i];
    double& total = sizes[i];
    const auto add = [&](const Vec3d& area, const Vec3d& middle, double size) {
      dipole.area += area;
      dipole.center += size * middle;
      total += size;
    };
    if (node.is_leaf())
      for (int place = node.first; place < node.first + node.count; ++place)
        with_corners(body, tree.item(place), [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
          const Vec3d area = 0.5 * cross(b - a, c - a);
          add(area, (1.0 / 3) * (a + b + c), norm(area));
        });
    else
      for (const int child : {node.first, node.first + 1}) {
        const std::size_t k = static_cast<std::size_t>(child);
        add(dipoles_[k].area, dipoles_[k].center, sizes[k]);
      }
    if (total > 0)
      dipole.center *= 1 / total;
    else
      dipole.center = 0.5 * (node.box.lower + node.box.upper);
    // Ball about the center that contains the node's box.
    Vec3d reach;
    for (int k = 0; k < 3; ++k)
      reach[k] =
          std::max(node.box.upper[k] - dipole.center[k], dipole.center[k] - node.box.lower[k]);
    dipole.radius = norm(reach);
  }
}

double WindingNumber::at(const Compound& body, const Vec3d& p_B) const {
  const AabbTree& tree = body.tree();
  if (tree.nodes().empty()) return 0;
  double sum = 0;  // of distant triangles
  SolidAngles angles;
  int stack[64], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const int i = stack[--depth];
    const AabbTree::Node& node = tree.node(i);
    const Dipole& dipole = dipoles_[i];
    const Vec3d d = dipole.center - p_B;
    const double squared = squared_norm(d);
    if (squared > far * far * dipole.radius * dipole.radius) {
      sum += dot(dipole.area, d) / (squared * std::sqrt(squared));
    } else if (node.is_leaf()) {
      for (int place = node.first; place < node.first + node.count; ++place)
        with_corners(body, tree.item(place), [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
          angles.add(a - p_B, b - p_B, c - p_B);
        });
    } else {
      stack[depth++] = node.first + 1;
      stack[depth++] = node.first;
    }
  }
  return (sum + angles.sum()) / (4 * pi);
}

}  // namespace robosim
