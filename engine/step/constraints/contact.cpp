#include "step/constraints/contact.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/index.h"
#include "base/lanes.h"
#include "contact/impulse_rates.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/normal_law.h"
#include "step/constraints/recovery.h"
#include "step/contact_axes.h"

namespace robosim {
namespace {

// Minimum size of a block, relative to the radius of the smallest bounding ball of its objects.
constexpr double least_spread = 0.01;

// Sort the manifolds such that those of the same two bodies are adjacent, in the order of the first
// manifold of each pair of bodies. Fills the sorted indices, and the first manifold with the same
// bodies as each one.
void sort_by_bodies(const StepData& step, std::vector<int>& by_bodies,
                    std::vector<int>& first_of_bodies) {
  const auto bodies = [&](int i) {
    const SceneQuery::PairManifold& pair = step.manifolds[i];
    return std::pair(step.object(pair.a).body, step.object(pair.b).body);
  };
  const int n = static_cast<int>(step.manifolds.size());
  by_bodies.resize(n);
  first_of_bodies.resize(n);
  std::iota(by_bodies.begin(), by_bodies.end(), 0);
  std::sort(by_bodies.begin(), by_bodies.end(),
            [&](int i, int j) { return std::pair(bodies(i), i) < std::pair(bodies(j), j); });
  for (int k = 0, first = 0; k < n; ++k) {
    if (bodies(by_bodies[k]) != bodies(by_bodies[first])) first = k;
    first_of_bodies[by_bodies[k]] = by_bodies[first];
  }
  const auto key = [&](int i) { return std::pair(first_of_bodies[i], i); };
  std::sort(by_bodies.begin(), by_bodies.end(), [&](int i, int j) { return key(i) < key(j); });
}

// Append the rows of the points of one manifold to the last block of the island.
void add_rows(const StepData& step, StepIsland& island, int manifold) {
  const SceneQuery::PairManifold& pair = step.manifolds[manifold];
  const Manifold& m = pair.manifold;
  const PairMaterial& material = step.world->material(pair.a, pair.b);
  const StepIsland::Block& block = island.blocks.back();
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);
  for (int i = 0; i < m.n_points; ++i) {
    const Vec3d arm = (1 / block.size) * (m.points[i].p_W - block.center);
    const int normal = island.problem.size();
    const auto add = [&](Contact::Role role, const Vec3d& turning,
                         const Vec3d& moving) -> ConstraintRow& {
      ConstraintRow& row = RowAssembly::add_row<Contact>(island, role, i, manifold);
      for (int k = 0; k < block.linear(); ++k) row.d[k] = turning[k];
      for (int k = 0; k < 3; ++k) row.d[block.linear() + k] = moving[k];
      return row;
    };
    const auto bounded = [&](ConstraintRow& row, double mu) {
      row.kind = RowKind::friction;
      row.mu = mu;
      row.normal = normal;
    };
    const auto both = [&](ConstraintRow& row, double mu, int k) {
      bounded(row, mu);
      row.is_disc = k == 0 && step.options.solver.kind().has_discs;
      island.rows.back().on[k] = 1;
    };
    const auto along = [&](Contact::Role role, const Vec3d& u) -> ConstraintRow& {
      return add(role, cross(arm, u), u);
    };
    const auto about = [&](Contact::Role role, const Vec3d& u) -> ConstraintRow& {
      return add(role, (1 / block.size) * u, Vec3d());
    };
    // The normal, two friction axes, the torsion axis and two rolling axes.
    along(Contact::normal, n);
    if (material.friction > 0)
      for (int k = 0; k < 2; ++k)
        both(along(k ? Contact::friction_2 : Contact::friction_1, axes.t[k]), material.friction, k);
    if (material.torsional_friction > 0)
      bounded(about(Contact::torsion, n), material.torsional_friction);
    if (material.rolling_friction > 0)
      for (int k = 0; k < 2; ++k)
        both(about(k ? Contact::rolling_2 : Contact::rolling_1, axes.t[k]),
             material.rolling_friction, k);
  }
}

// Add one block for all manifolds [first, last) of the same two bodies, with its rows.
void add_block(RowAssembly& assembly, const int* first, const int* last) {
  const StepData& step = assembly.step();
  StepIsland::Block block;
  block.item = *first;
  int points = 0;
  double least = std::numeric_limits<double>::infinity(), spread = 0;
  bool is_turned = step.times_impacts;  // friction of impacts has a lever (impacts.cpp)
  bool rolls = false;
  // Bodies, center of the points, and friction about axes.
  for (const int* i = first; i < last; ++i) {
    const SceneQuery::PairManifold& pair = step.manifolds[*i];
    const SceneObject &A = step.object(pair.a), &B = step.object(pair.b);
    const PairMaterial& material = step.world->material(pair.a, pair.b);
    block.a = A.body;
    block.b = B.body;
    for (int p = 0; p < pair.manifold.n_points; ++p) block.center += pair.manifold.points[p].p_W;
    points += pair.manifold.n_points;
    rolls |= material.rolling_friction > 0;
    is_turned |= material.torsional_friction > 0 || rolls;
    least = std::min({least, A.ball_radius, B.ball_radius});
  }
  block.center = (1.0 / points) * block.center;
  for (const int* i = first; i < last; ++i)
    for (int p = 0; p < step.manifolds[*i].manifold.n_points; ++p)
      spread += squared_norm(step.manifolds[*i].manifold.points[p].p_W - block.center) / points;
  // Size of the block: the root mean square distance of the points from their center.
  block.turns = points > 1 || is_turned;
  block.size = std::max(std::sqrt(spread), least_spread * least);
  StepIsland& island = assembly.island_of_bodies(block.a, block.b);
  // Rolling friction opposes the rotation that normals of several points cause when they reduce
  // penetration.
  RowAssembly::add_block<Contact>(island, block, block.width()).is_of_one_plane =
      last - first == 1 && !(rolls && points > 1);
  for (const int* i = first; i < last; ++i) add_rows(step, island, *i);
}

// Add the gradient with respect to the vertices of one side's shape, from the gradients with
// respect to a manifold's normal, gaps and points. first_row: row of the shape's first vertex. The
// normal is differentiated at the first point, which lists all vertices that rotate the normal.
void add_vertices(const ManifoldDerivatives& rates, int side, int first_row, const Vec3d& n_bar,
                  const double* gap_bar, const Vec3d* p_bar, VertexGradient& to) {
  for (int i = 0; i < rates.n_points; ++i) {
    const ManifoldPointDerivatives& point = rates.points[i];
    for (int c = 0; c < point.n_corners[side]; ++c) {
      Vec3d bar;
      for (int k = 0; k < 3; ++k) {
        const ManifoldRate& r = point.corner[side][c][k];
        bar[k] =
            gap_bar[i] * r.distance + dot(p_bar[i], r.p_W) + (i == 0 ? dot(n_bar, r.normal) : 0);
      }
      to.add(first_row + point.vertex[side][c], bar);
    }
  }
}

}  // namespace

bool Contact::has_rates(const StepIsland& island, std::size_t b) {
  const RowBlock& rows = island.problem.blocks[b];
  return std::none_of(island.rows.begin() + rows.first_row, island.rows.begin() + rows.last_row,
                      [](const StepIsland::Row& row) { return row.law == NormalLaw::bounce; });
}

void Contact::join(RowAssembly& rows) {
  const StepData& step = rows.step();
  for (const SceneQuery::PairManifold& pair : step.manifolds)
    rows.join(step.world->tree_of_body(step.object(pair.a).body),
              step.world->tree_of_body(step.object(pair.b).body));
}

void Contact::add_blocks(RowAssembly& rows, const StepInput&) {
  std::vector<int>& by_bodies = rows.scratch(0);
  std::vector<int>& first_of_bodies = rows.scratch(1);
  sort_by_bodies(rows.step(), by_bodies, first_of_bodies);
  for (std::size_t i = 0, next = 0; i < by_bodies.size(); i = next) {
    while (next < by_bodies.size() &&
           first_of_bodies[by_bodies[next]] == first_of_bodies[by_bodies[i]])
      ++next;
    add_block(rows, by_bodies.data() + i, by_bodies.data() + next);
  }
}

void Contact::set_targets(const StepData& step, const StepInput&, StepIsland& island,
                          std::size_t b) {
  for (int i = island.problem.blocks[b].first_row; i < island.problem.blocks[b].last_row; ++i) {
    if (island.rows[i].role == normal)
      set_normal_target(step, island, b, i);
    else
      follow_normal(island, i);
  }
}

void Contact::add_vjp(const StepIsland& island, std::size_t b, int first_row, int last_row,
                      const ManifoldDerivatives& rates, const Vec3d& center_bar,
                      const StepAdjoint& to) {
  const StepData& step = to.step;
  StepGradient& gradient = to.gradient;
  const StepIsland::Block& block = island.blocks[b];
  const int manifold = island.rows[first_row].manifold;
  const SceneQuery::PairManifold& pair = step.manifolds[manifold];
  const Manifold& m = pair.manifold;
  const SceneObject &A = step.object(pair.a), &B = step.object(pair.b);
  const int of_pair = step.world->pair(pair.a, pair.b);

  // Gradients with respect to the points, the normal and the axes, from those of the rows.
  Vec3d p_bar[Manifold::max_points], n_bar;
  if (!block.turns) p_bar[0] = center_bar;
  double gap_bar[Manifold::max_points] = {};
  ContactAxes t_bar;
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);
  for (int i = first_row; i < last_row; ++i) {
    const std::uint8_t role = island.rows[i].role;
    const int point = island.rows[i].point;
    const double* const d_bar = &island.gradient.d[i * most_block_channels];
    const double mu_bar = island.gradient.mu[i];
    const double* const on = island.rows[i].on;
    Vec3d axis_bar;  // friction or rolling axis
    gap_bar[point] += island.gap_bar[i];
    const double lever = island.rows[i].lever, gap = m.points[point].gap;
    const Vec3d arm = m.points[point].p_W + (lever * gap) * n - block.center;
    const double scale = 1 / block.size;
    // Gradients through a row along a direction at the point, and through a row about an axis.
    const auto along = [&](const Vec3d& u, Vec3d& u_bar) {
      u_bar += vec3_at(d_bar + block.linear());
      if (!block.turns) return;
      u_bar += scale * cross(vec3_at(d_bar), arm);
      const Vec3d arm_bar = scale * cross(u, vec3_at(d_bar));
      p_bar[point] += arm_bar;
      gap_bar[point] += lever * dot(n, arm_bar);
      n_bar += (lever * gap) * arm_bar;
    };
    const auto about = [&](Vec3d& u_bar) { u_bar += scale * vec3_at(d_bar); };
    switch (role) {
      case normal:
        along(n, n_bar);
        break;
      case friction_1:
      case friction_2:
        along(on[0] * axes.t[0] + on[1] * axes.t[1], axis_bar);
        *to.of("friction", of_pair) += mu_bar;
        break;
      case torsion:
        about(n_bar);
        *to.of("torsional_friction", of_pair) += mu_bar;
        break;
      default:
        about(axis_bar);
        *to.of("rolling_friction", of_pair) += mu_bar;
    }
    for (int k = 0; k < 2; ++k) t_bar.t[k] += on[k] * axis_bar;
  }
  n_bar += contact_axes_pulled_back(n, t_bar);

  // Gradients with respect to the twists, sizes, scales and vertices of both shapes.
  double twist_bar[12];
  // Change of the loss with one entry, from its derivatives of gaps, points and normal.
  const auto change = [&](const auto& rate_of) {
    double sum = dot(n_bar, rate_of(rates.points[0]).normal);
    for (int i = 0; i < m.n_points; ++i) {
      const ManifoldRate& r = rate_of(rates.points[i]);
      sum += gap_bar[i] * r.distance + dot(p_bar[i], r.p_W);
    }
    return sum;
  };
  for (int k = 0; k < 12; ++k)
    twist_bar[k] = change(
        [k](const ManifoldPointDerivatives& p) -> const ManifoldRate& { return p.twist[k]; });
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a;
    if (gradient.wants_vertices && rates.points[0].n_corners[side] > 0)
      if (const int row = step.world->vertices().first(object, side ? pair.piece_b : pair.piece_a);
          row >= 0)
        add_vertices(rates, side, row, n_bar, gap_bar, p_bar, gradient.parameters.vertices);
    if ((side ? B : A).geometry.compound) continue;
    for (int k = 0; k < rates.n_sizes[side]; ++k)
      to.of("sizes", object)[k] +=
          change([=](const ManifoldPointDerivatives& p) -> const ManifoldRate& {
            return p.size[side][k];
          });
    *to.of("scale", object) += change(
        [=](const ManifoldPointDerivatives& p) -> const ManifoldRate& { return p.scale[side]; });
  }
  to.bodies.add_shape(step, pair.a, pair.piece_a, twist_bar, gradient);
  to.bodies.add_shape(step, pair.b, pair.piece_b, twist_bar + 6, gradient);
}

void Contact::fill_rates(const StepData& step, const StepIsland& island, std::size_t b, int side,
                         int first_row, int last_row, const ManifoldDerivatives& rates, double* d,
                         double* targets) {
  using Pair = Lanes<2, Isa::baseline>;  // two adjacent entries of the twist
  constexpr int entries = ImpulseRates::at_once;
  const StepIsland::Block& block = island.blocks[b];
  const int manifold = island.rows[first_row].manifold;
  const Manifold& m = step.manifolds[manifold].manifold;
  const double scale = 1 / block.size;
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);
  const auto pair = [](double first, double second) {
    Pair x;
    x.set(0, first);
    x.set(1, second);
    return x;
  };
  const auto pairs = [&](const Vec3d& first, const Vec3d& second) {
    return Vec3<Pair>(pair(first.x, second.x), pair(first.y, second.y), pair(first.z, second.z));
  };
  for (int t = 0; t < entries; t += Pair::width) {
    const auto rate_of = [&](int point, int lane) -> const ManifoldRate& {
      return rates.points[point].twist[entries * side + t + lane];
    };
    // Derivatives of the normal and of the axes, common to all points.
    const Vec3<Pair> dn = pairs(rate_of(0, 0).normal, rate_of(0, 1).normal);
    const ContactAxesChange<Pair> d_axes = contact_axes_moved(n, dn);
    Vec3<Pair> d_arm;
    Vec3d arm;
    // Derivatives of each row's coefficients and target.
    for (int i = first_row, point = -1; i < last_row; ++i) {
      const StepIsland::Row& row = island.rows[i];
      if (row.point != point) {
        point = row.point;
        arm = scale * (m.points[point].p_W - block.center);
        d_arm = pairs(scale * rate_of(point, 0).p_W, scale * rate_of(point, 1).p_W);
      }
      double* const to = d + (i - first_row) * most_block_channels * entries + t;
      Pair target(0.0);
      const auto put = [&](const Vec3<Pair>& x, int first) {
        for (int k = 0; k < 3; ++k) std::memcpy(to + (first + k) * entries, &x[k], sizeof(Pair));
      };
      // Derivatives of a row along a direction at the point, and of a row about an axis.
      const auto along = [&](const Vec3d& u, const Vec3<Pair>& du) {
        if (block.turns) put(cross(d_arm, Vec3<Pair>(u)) + cross(Vec3<Pair>(arm), du), 0);
        put(du, block.linear());
      };
      const auto about = [&](const Vec3<Pair>& du) {
        put(Pair(scale) * du, 0);
        put(Vec3<Pair>(), 3);
      };
      const auto moved_axis = [&] {
        return Pair(row.on[0]) * d_axes.t[0] + Pair(row.on[1]) * d_axes.t[1];
      };
      switch (row.role) {
        case normal: {
          along(n, dn);
          const bool is_clipped =
              island.is_relaxed && island.problem.rows[i].target == 0 && row.law != NormalLaw::soft;
          const double share =
              row.law == NormalLaw::soft
                  ? -1 /
                        time_to_give(step.options, step.world->material(step.manifolds[manifold].a,
                                                                        step.manifolds[manifold].b))
              : row.law == NormalLaw::ahead
                  ? -1 / step.options.dt
                  : keep_apart(step, m.points[row.point].gap, step.options.margin).rate;
          if (!is_clipped)
            target = pair(share * rate_of(point, 0).distance, share * rate_of(point, 1).distance);
          break;
        }
        case friction_1:
        case friction_2:
          along(row.on[0] * axes.t[0] + row.on[1] * axes.t[1], moved_axis());
          break;
        case torsion:
          about(dn);
          break;
        default:
          about(moved_axis());
      }
      std::memcpy(targets + (i - first_row) * entries + t, &target, sizeof(Pair));
    }
  }
}

}  // namespace robosim
