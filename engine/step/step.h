// One time step of a World with hard contact.
//
// Positions, collisions and rows are those of the configuration q at the start; forces of damping, springs and motors are those of the end:
//   (M + dt D + dt^2 K)(v+ - v) = dt (tau - h - D v - K (q - q_0 + dt v)) + J^T f,     q+ = q advanced by dt v+     (semi-implicit Euler)
// with D the joints' damping, K their springs and f the impulses of the rows (contact/rows.h), each with a target t for its velocity w = J v+.
// All of this is in the axes at the start, those of bodies that move freely too, so h is without the part that the turning of their axes adds;
// they go straight and the new velocity is then told in their axes at the end (advance of configuration.h): linear momentum is kept exactly.
//   contact, per point and along the normal: unilateral,  t = -(erp/dt) gap: a part `erp` of what overlaps is taken back in a step, and what is
//       apart by up to `margin` keeps a part of it. What has restitution and approaches faster than the threshold comes as near as it will,
//       t = -gap/dt, and when it would touch within the step, t = -restitution w(v) if that is more; or it is met within the step, see below.
//       What has a compliance c and a relaxation time tau gives: force (-gap - tau w) / c where that is positive, of gap and velocity at the end of the
//       step, a row of compliance c / (dt (dt + tau)) with t = -gap / (dt + tau) (Castro et al., IEEE Trans. Robotics 39(2), 2023)
//   friction, per point and axis (contact_axes.h): w = 0 within mu times the normal's impulse; torsion about the normal and rolling about
//       the axes likewise. Of `cone` both axes together: against the velocity, |f| within mu times the normal's impulse. Where only one motion
//       across the normal is possible, as in the plane of a flat robot, its axis takes the place of both (left_out.cpp)
//   limits of joints: as a normal, of the coordinate, within limit_margin of it
//   closures (closures.cpp): w = 0, a part `erp` of what is apart taken back
//   dry friction of joints: w = 0 within friction dt                                                      (exact, not the smooth one of joint_forces.h)
//   motors: dt (k (q_t - q - dt w) + d (v_t - w)), a row of compliance 1 / (dt (k dt + d)) within the motor's limit dt
// All points of a manifold have its normal and lie on its plane. Two bodies that touch by many shapes, or on many triangles of one, have one twist
// that all of their rows look at. Rows of trees that nothing connects are solved apart, as islands.
//
// Rows can contradict each other, as where a link that can only turn reaches into the floor on both sides of its axis: what such an island
// asks of normals and limits beyond standing still (bounces, overlaps to be taken back) is then left out, and it is `relaxed`. Standing
// still is possible for all, so a solution exists.
//
// Bounces by their time of impact. A bounce of the plain step happens wherever within `margin` the step finds it, so that where a ball is
// later depends on the steps' phase, and the derivative by where it was is wrong at any dt (two equal balls: 0 for 1). With `time_of_impact`
// a point that is apart by phi and approaches faster than the threshold is met within the step at the share
//   s = phi / (-dt w*),   w* = J v_free,   0 < s < 1           (what is farther keeps apart: t = -phi / dt)
// Velocities of this scheme are those in the middles of steps, so with the change D = w* - w(v) that forces make in one, w* - (1/2 - s) D is
// the velocity at the impact, and after a flight from there to the middle
//   t = -restitution (w* - (1/2 - s) D) + (1/2 - s) D;         0 where restitution is, or this is not above 0: it stays
// Friction acts where what moves is then, not where the gap leaves it before. All impulses of the point act from the impact on,
//   q+ = q advanced by dt (v+ - sum_i s_i M^-1 J_i^T f_i)
// A ball with restitution 1 keeps its height over any number of bounces. One bounce, and several that do not feel each other, err by the
// square of dt, so that gradients are those of continuous time up to dt; such as do feel each other happen at once (Newton's law with the
// rows above), and are counted as coupled, since no law of rigid bodies orders them. Pairs are looked for as far as they can come in a step.
//
// A step is a function of its arguments alone, to the bit: nothing is kept from one to the next but memory.
// Cost: beside collisions O(n depth^2) for the mass matrix and O(n depth) per channel, then what the rows cost. No allocation once the
// buffers have grown.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "contact/mode_solver.h"
#include "contact/row_gradient.h"
#include "contact/projected_gauss_seidel.h"
#include "contact/row_span.h"
#include "contact/ties.h"
#include "dynamics/mass_factor.h"
#include "geometry/manifolds/manifold_derivatives.h"
#include "scene/scene_query.h"
#include "step/step_gradient.h"
#include "step/world.h"

namespace robosim {

enum class RowSolver : std::uint8_t {
  lcp,   // friction within a square, to rounding (mode_solver.h)
  cone,  // within a circle, to rounding
  pgs    // within a square, by a number of sweeps (projected_gauss_seidel.h)
};

enum class Bounce : std::uint8_t {
  step,           // wherever the step finds it
  time_of_impact  // when things touch
};

// What a gradient looks at beyond the classes that the step found (complementarity_aware.cpp).
enum class ComplementarityAware : std::uint8_t {
  none,     // nothing: the derivative
  each,     // every contact and limit by itself lets go or pushes as the loss wants it
  together  // things that touch and both move keep together; contacts with the world and limits as of `each`
};

struct StepOptions {
  double dt = 1e-3;                      // [s]
  RowSolver solver = RowSolver::lcp;
  int sweeps = 50;                       // of pgs
  double erp = 0.2;                      // share of an overlap, or of a limit that is exceeded, taken back in one step; 0 to 1
  double margin = 1e-3;                  // [m] within which pairs have rows
  double limit_margin = 1e-3;            // [rad or m] the same of joint limits
  Bounce bounce = Bounce::step;
  double restitution_threshold = 0.01;   // [m/s] of approach, below which nothing bounces
  ComplementarityAware complementarity_aware = ComplementarityAware::none;  // of vjp, not of pgs
};

// What drives a step; null for none. Forces are held over the step.
struct StepControl {
  const double* tau = nullptr;       // n_v [N m or N]
  const double* q_target = nullptr;  // n_q, of motors with a position gain; null: the present position
  const double* v_target = nullptr;  // n_v, of motors; null: zero
};

// What a row stands for.
enum class RowSource : std::uint8_t { normal, friction_1, friction_2, torsion, rolling_1, rolling_2, lower_limit, upper_limit, joint_friction, motor, closure, equality };

// What a normal asks for.
enum class NormalLaw : std::uint8_t {
  rest,     // t = -(erp/dt) gap
  bounce,   // what comes back, at the start of the step
  impact,   // what comes back, within the step
  landing,  // nothing comes back, within the step
  ahead,    // t = -gap/dt: not met in this step
  soft      // it gives
};

// Rows that see each other: those of trees that contacts connect.
struct StepIsland {
  // Of contacts the first of the manifolds of two bodies; of a joint its coordinate; of a closure its place in the world's.
  struct Block {
    int manifold = -1, v = -1, q = -1, closure = -1, equality = -1;
    int v_of = -1;    // of an equality: the coordinate that v follows
    int a = -1, b = -1;  // bodies, of contacts and frame closures: the channels are the twist of b against a
    Vec3d centre;     // where they take it, in W: the middle of the contacts' points
    double size = 1;  // [m] that the twist's angular part is times
    bool turns = true;  // has the twist's angular part; a single point that nothing acts about does without

    bool is_of_bodies() const { return a >= 0; }
    int linear() const { return turns ? 3 : 0; }  // the first channel of the linear part
    int width() const { return linear() + 3; }    // of channels of bodies
  };
  struct Row {
    RowSource source;
    double on[2] = {};  // of friction and rolling: on the two axes of friction (contact_axes.h)
    int manifold = -1;  // of a contact
    int point = -1;  // of the manifold; of a closure the component that it holds: of e, then of theta
    NormalLaw law = NormalLaw::rest;  // of its point
    double impact = 0;                // share of the step after which its impulse acts
    double lever = 0;                 // of friction: how far along the normal its point is from the manifold's, per gap (impacts.cpp)
  };
  // use(first_row, last_row) of each manifold of a block of contacts.
  template <class Use>
  void for_each_manifold(std::size_t block, const Use& use) const {
    const RowBlock& all = problem.blocks[block];
    for (int first = all.first_row, i = first; i < all.last_row; first = i) {
      const int manifold = rows[static_cast<std::size_t>(first)].manifold;
      while (i < all.last_row && rows[static_cast<std::size_t>(i)].manifold == manifold) ++i;
      use(first, i);
    }
  }

  std::vector<Block> blocks;  // as problem.blocks
  std::vector<Row> rows;      // as problem.rows
  RowProblem problem;
  RowSizes sizes;  // of problem, once it is solved
  RowSolution solution;
  bool is_relaxed = false;
  bool has_impacts = false;
  ProjectedGaussSeidel sweeps;  // of pgs
  std::unique_ptr<ModeFactor> modes = std::make_unique<ModeFactor>();  // of lcp and cone, for derivatives: where it has them
  bool has_modes = false, is_factored = false;  // by the solver
  RowGradient gradient;         // of vjp
  RowSolution other;            // of complementarity-aware gradients
  std::unique_ptr<ModeFactor> other_modes = std::make_unique<ModeFactor>();
  std::vector<double> X, Y;  // n_v x channels: the channels' Jacobian, transposed, and M^-1 times it
  std::vector<double> before;  // channels: their velocity before the step
  std::vector<double> z_late;  // channels: impulses times their impact's share of the step
  // Of vjp: of each row's gap and impact; of `before`; and of y_free by impacts, which `gradient` has in its own, too.
  std::vector<double> gap_bar, share_bar, before_bar, impact_bar;
};

enum class StepStatus : std::uint8_t {
  solved,
  basic,         // solved, but in some island by impulses other than those of the selection rule (impulse_selection.h)
  rough,         // to 1e-8, in some island by impulses that no rule has chosen (mode_solver.h)
  relaxed,       // solved, but in some island without what contradicted itself
  inconsistent,  // not solved in some island: what came nearest
  diverged       // not taken, as it would end beyond what numbers hold: the state stays as it is
};

struct StepReport {
  StepStatus status = StepStatus::solved;      // the worst of the islands; of pgs always `solved`, as sweeps end when they end
  double residual = 0;                         // row_residual, the largest
  int manifolds = 0, contacts = 0, rows = 0, islands = 0;
  int class_changes = 0, pivots = 0;           // of lcp and cone, together
  int coupled_bounces = 0;                     // impacts and bounces that push while another normal that feels them does
};

// Where Jacobians of the next state go: of each of q (tangent space, body side) and v, n_v rows; row-major. Null for what nobody asks for.
struct JacobianBlocks {
  double *q = nullptr, *v = nullptr, *tau = nullptr, *q_target = nullptr, *v_target = nullptr;  // 2 n_v rows: q_next, then v_next; n_v, n_v, n_v, n_q, n_v columns
  double* parameters = nullptr;  // a column for each of the selection
  const ParameterSelection* selection = nullptr;

  JacobianBlocks of(const Model& model, int step) const;  // of many, one behind the other
};

// Room for them.
struct StepJacobians {
  std::vector<double> q, v, tau, q_target, v_target;

  JacobianBlocks resize(const Model& model);  // for all
};

class Stepper {
 public:
  // The world must outlive it. Throws InputError where an option is out of its range.
  Stepper(const World& world, const StepOptions& options);

  // From q (n_q) and v (n_v) to q_next and v_next, which may be the same arrays.
  StepReport step(const double* q, const double* v, const StepControl& control, double* q_next, double* v_next);

  // After a step with the same arguments: the gradient, in them and in all that the world is made of, of a loss that changes by q_next_bar
  // (tangent space at q_next, body side) and v_next_bar (n_v each) with its results; see step_vjp.cpp. Of pgs that of its sweeps.
  // Where the options ask for it, a complementarity-aware one.
  void vjp(const double* q, const double* v, const StepControl& control, const double* q_next_bar, const double* v_next_bar, StepGradient& gradient);

  void exact_vjp(const double* q, const double* v, const StepControl& control, const double* q_next_bar, const double* v_next_bar, StepGradient& gradient);
  // As exact_vjp, all of its rows at once; whether they hold to one side only. See step_jacobians.cpp.
  bool jacobians(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out);

  // What the next state changes by along a direction of all arguments and of what the world is made of: of q_next (tangent space, body side) and
  // v_next, n_v each; whether that holds to one side only. See step_jvp.cpp.
  bool jvp(const double* q, const double* v, const StepControl& control, const StepGradient& direction, double* q_next, double* v_next);

  const World& world() const { return *world_; }
  const StepOptions& options() const { return options_; }
  // Of the last step.
  const std::vector<SceneQuery::PairManifold>& manifolds() const { return manifolds_; }
  const StepIsland* islands() const { return islands_.data(); }  // the report tells how many
  const Data<double>& data() const { return data_; }             // L: factor of the mass matrix, with what is implicit of damping and springs

 private:
  void move_freely(const double* q, const double* v, const StepControl& control);
  void sort_by_bodies();
  void add_contacts(const int* first, const int* last);
  void add_contact_rows(StepIsland& island, int manifold);
  JointEquality::Value law_of(const JointEquality& closure, const double* q) const;
  void add_closures(const double* q);
  void leave_out_rows(StepIsland& island);
  void add_coordinates(const double* q);
  void join(int a, int b);
  int root(int tree);
  StepIsland& island_of(int tree);
  RowBlock& add_block(StepIsland& island, const StepIsland::Block& block, int width);
  static ConstraintRow& add_row(StepIsland& island, RowSource source, int point = -1, int manifold = -1);
  void fill_jacobian(StepIsland& island, const double* v);
  void solve(StepIsland& island, StepReport& report);
  static bool relax(StepIsland& island);
  void fill_targets(StepIsland& island, const double* q, const StepControl& control);
  NormalLaw law_of(double gap, double approach, double closing, const PairMaterial& material) const;  // impact for both impact and landing
  // Of what gives, whose target is -gap over this.
  double time_to_give(const PairMaterial& material) const { return options_.dt + material.relaxation_time; }
  void fill_normal(StepIsland& island, std::size_t block, int row);
  void meet(StepIsland& island, std::size_t block, int row) const;
  void fill_closure(StepIsland& island, std::size_t block, const double* q);
  double reach() const;
  bool is_met(const SceneQuery::PairManifold& pair) const;
  void add_late_impulses(StepIsland& island);
  static int coupled_bounces(const StepIsland& island);

  const World* world_;
  StepOptions options_;
  SceneQuery query_;
  Data<double> data_;
  std::vector<double> v_free_;  // n_v
  std::vector<double> padded_Y_, padded_L_;  // of an island
  std::vector<double> q_next_;              // n_q
  std::vector<double> held_, moved_, way_;  // n_v; the new velocity in the axes at the start, and what q advances by
  std::vector<Motion<double>> V_free_;      // per body, of v_free_ without rows, where bounces are timed
  std::vector<SceneQuery::PairManifold> manifolds_;
  std::vector<int> by_bodies_, first_of_bodies_;  // manifolds, those of the same two bodies together; of each the first of these
  std::vector<int> joined_, island_of_tree_;  // trees: towards the root of those that are joined; their island
  std::vector<StepIsland> islands_;           // the first n_islands_ are in use
  int n_islands_ = 0;
  ModeSolver exact_;
  RowSpan span_;  // of closures
  std::vector<double> admittances_;  // of a block's rows
  std::vector<int> places_;          // the same: where they go

  // Of vjp; see step_vjp.cpp, contact_vjp.cpp, closures.cpp and impacts.cpp.
  void derive(const double* q, const double* v, const StepControl& control, bool by_everything);
  bool pushes(const StepIsland& island, const double* z, int stride) const;
  bool is_torn(int island, const double* q, const double* v, const StepControl& control);
  bool is_torn_by(const StepIsland& island, const double* multipliers, int stride, const double* by_q, const double* by_v) const;
  void resize_adjoint();
  void add_row_adjoint(StepIsland& island, StepGradient& gradient, bool of_dependences = false);
  void add_diagonal_vjp(StepGradient& gradient) const;
  void pull_back_velocity(const double* q, const double* v, const StepControl& control, StepGradient& gradient);
  void pull_back(int first_island, int last_island, const double* q, const double* v, const StepControl& control, StepGradient& gradient);
  void add_row_vjp(const StepIsland& island, const double* q, const double* v, const StepControl& control, const double* lambda, StepGradient& gradient);
  void add_late_vjp(StepIsland& island);
  void add_normal_vjp(StepIsland& island, std::size_t block, int row, StepGradient& gradient) const;
  void add_impact_vjp(const StepIsland& island, StepGradient& gradient);
  void add_contact_vjp(const StepIsland& island, std::size_t block, int first_row, int last_row, StepGradient& gradient);
  void add_closure_vjp(const StepIsland& island, std::size_t block, const double* q, StepGradient& gradient);
  void add_coordinate_vjp(const StepIsland& island, std::size_t block, const double* q, const StepControl& control, StepGradient& gradient) const;
  void add_admittance_vjp(const StepIsland& island, StepGradient& gradient);
  void add_free_motion_vjp(const double* q, const double* v, const StepControl& control, StepGradient& gradient);
  Force<double> channel_force(const StepIsland& island, std::size_t block, const double* covector) const;
  Vec3d add_turned_twist(int body, const Force<double>& F, const double* rates);
  void add_turned_channels(const StepIsland& island, std::size_t block, const double* covector, const double* rates);
  void add_mass_vjp(const double* x, const double* y, std::size_t count, StepGradient& gradient);  // n_v x count; see mass_vjp.cpp
  void add_frame_motion(int body, const SE3d& X_WF, const Vec3d& linear, const Vec3d& about_W, double* pose_bar);
  void add_shape_motion(int object, int piece, const double* twist_bar, StepGradient& gradient);
  void gather_turned(double* q_bar, double* placement_bar);
  void carry_impulses();
  void add_turning_of_impulses(double* by_q);
  void add_moving_of_impulses(const StepIsland& island, std::size_t block, double* by_q);
  template <class Use>
  void for_each_turning(const Use& use, const double* v) const;
  void free_jacobians(const double* v);
  void add_impulse_jacobians(int island, const double* q, const double* v, const StepControl& control);
  const double* ask_for_moving(const StepIsland& island);
  bool has_rates(StepIsland& island);
  void add_adjoints(StepIsland& island, const double* q, const double* v, const StepControl& control);
  void add_rates(const StepIsland& island, const StepControl& control);
  void fill_twists();
  const double* twists_by(int manifold, int side) const { return &twists_by_[static_cast<std::size_t>((2 * manifold + side) * 6 * padded(world_->model().n_v))]; }
  void fill_row_rates(const StepIsland& island, std::size_t block, int side, int first_row, int last_row);
  void add_contact_rates(const StepIsland& island, std::size_t block, int first_row, int last_row);
  void add_coordinate_rates(const StepIsland& island, std::size_t block, bool has_targets);
  void add_turning_of_channels(const StepIsland& island, std::size_t block);
  void advance_jacobians(const JacobianBlocks& out);
  bool has_impacts() const;
  void add_free_motion_jvp(const double* q, const double* v, const StepControl& control, const StepGradient& direction, double* change);
  void add_impulses_jvp(const StepGradient& direction, double* change);
  Vec3d point_jvp(const StepIsland::Block& block, const StepGradient& direction);
  void parameter_jacobian(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out);
  void jacobians_by_gradients(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out);
  bool choose_classes(StepIsland& island);
  void take_other_classes(StepIsland& island);
  // Once after a step, however many gradients of it are asked for.
  bool is_derived_ = false, is_derived_by_everything_ = false, is_one_sided_ = false, is_diverged_ = false;
  RowSolution again_;
  Ties ties_;
  std::vector<ManifoldDerivatives> manifold_rates_;  // the first are those of manifolds_
  std::vector<double> v_bar_, way_bar_, late_bar_, impulse_bar_, lambda_, lambda_way_, a_, a_bar_, q_part_, v_part_, f_bar_, virtual_, pushed_, inertia_bar_;
  std::vector<double> beyond_, responses_, units_, by_coordinate_;  // of add_admittance_vjp
  std::vector<Vec3d> centre_bar_;  // of an island's blocks, of single points: of where the channels are
  // Of jacobians: the new velocity (n_v rows), channels and impulses by all arguments that are asked for; the first by those of q and v that are not; one row.
  struct JacobianColumns {  // where each begins, -1 where nobody asks
    int q, v, tau, q_target, v_target, stride;
  } jacobian_columns_{};
  std::vector<double> moved_by_, channels_by_, impulses_by_, unasked_, point_by_, per_point_, unit_, zero_;
  std::vector<double> twists_by_;  // of both shapes of each manifold, 6 x padded(n_v)
  ImpulseRates impulse_rates_;
  std::vector<double> moving_Y_;  // of an island, n_v x what impulse_rates_ asks for
  std::vector<double> twist_rates_, row_rates_, target_rates_;  // of one manifold: impulses by one shape's twist; its rows
  StepGradient of_impulse_, of_rows_;
  std::vector<Motion<double>> displaced_;  // of jvp: bodies
  std::vector<double> change_, d_acceleration_;  // n_v
  // Of complementarity-aware gradients.
  RowProblem probe_;
  std::vector<RowClass> wanted_;
  std::vector<std::uint8_t> keeps_;  // rows: whether they clamp whatever the loss wants
  std::vector<int> others_;  // islands with other classes
  std::vector<double> true_moved_, true_way_;
  StepGradient aware_;
  std::vector<std::array<double, 6>> V_virtual_, V_pushed_, subtree_force_, subtree_bar_;  // of add_mass_vjp, per body and pair
  // Per body what the loss changes by with a motion of all behind its joint: by rates of their own, and the bodies' to be summed.
  std::vector<Force<double>> turned_, carried_;
};

}  // namespace robosim
