"""
The compiled core of robosim. Use it through the robosim package.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing
import typing_extensions

__all__: list[str] = [
    "Batch",
    "BlendedPath",
    "BoundOperation",
    "ClosureForce",
    "Collider",
    "CollisionScene",
    "Compound",
    "ContactForce",
    "EdgeResult",
    "ExactBody",
    "Frame",
    "FrameClosure",
    "GradientArrays",
    "HeightField",
    "IkResult",
    "Inertia",
    "JacobianArrays",
    "Joint",
    "JointEquality",
    "JointForce",
    "MeshOfSimulation",
    "Model",
    "ModelBuilder",
    "OperationData",
    "OptimizedPath",
    "ParameterKind",
    "PointCloud",
    "RolloutReports",
    "SearchResult",
    "SelfCollisionSearch",
    "Shape",
    "ShapeRates",
    "Simulation",
    "StepDetails",
    "StepImpact",
    "StepIsland",
    "StepReport",
    "StepRow",
    "TakenStep",
    "TimingResult",
    "TriangleMesh",
    "TurnTable",
    "bind_operation",
    "blend_corners",
    "bodies_closer_than",
    "body_bounding_box",
    "bounces",
    "bounding_ball",
    "bounding_box",
    "brake",
    "build_info",
    "check_configuration",
    "close_xla_calls",
    "closer_than",
    "closest_pieces",
    "complementarity_aware_kinds",
    "contact_manifold",
    "contact_manifold_derivatives",
    "contact_manifolds",
    "contact_rates",
    "contacts",
    "default_angular_acceleration",
    "default_friction_width",
    "default_linear_acceleration",
    "distance_lower_bound",
    "draw_picture",
    "evaluate",
    "evaluate_batch",
    "farthest_from",
    "free_line",
    "full_turns",
    "gather_light",
    "ik_statuses",
    "inertial_parameters",
    "integrators",
    "inverse_kinematics",
    "inverse_kinematics_many",
    "joint_kinds",
    "merged_points",
    "near_robot",
    "neutral",
    "one_sided_causes",
    "operations",
    "optimize_path",
    "ray_cast",
    "ray_cast_derivatives",
    "row_solvers",
    "rrt_connect",
    "sample_configuration",
    "sample_self_collisions",
    "sampling_window",
    "scene_ray_cast",
    "set_thread_limit",
    "shape_sizes",
    "shortcut",
    "signed_distance",
    "signed_distance_derivatives",
    "smoothed_distance",
    "thread_limit",
    "time_of_impact",
    "time_of_impact_derivatives",
    "time_path",
    "total_mass",
    "turn_tables",
    "work_per_iteration",
    "xla_handler",
]

class Shape:
    """
    A convex collision shape in its own frame, immutable. Sizes are full sizes in meters; radii are radii.
    """
    @staticmethod
    def box(size: typing.Any, rounding: typing.SupportsFloat | typing.SupportsIndex = 0.0) -> Shape:
        """
        A box about the origin, its full size along x, y and z [m]; with a rounding, all points within that distance [m] of it.
        """
    @staticmethod
    def capsule(
        radius: typing.SupportsFloat | typing.SupportsIndex,
        length: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Shape:
        """
        A ball of this radius [m] swept along z; length [m] of the straight part, without the caps.
        """
    @staticmethod
    def cone(
        radius: typing.SupportsFloat | typing.SupportsIndex,
        length: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Shape:
        """
        A solid cone about z: base of this radius [m] at z = -length / 2, apex at z = length / 2.
        """
    @staticmethod
    def convex(
        vertices: typing.Any,
        faces: typing.Any = None,
        rounding: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> Shape:
        """
        The convex hull of vertices (n, 3) [m]. With faces (m, 3), refuses those that are not the closed outward surface
        of the hull. Flat point sets are refused too (thinner than 1e-9 of their extent). With a rounding, all points within
        that distance [m] of the hull.
        """
    @staticmethod
    def cylinder(
        radius: typing.SupportsFloat | typing.SupportsIndex,
        length: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Shape:
        """
        A cylinder about z with flat ends: radius and full length [m].
        """
    @staticmethod
    def ellipsoid(radii: typing.Any) -> Shape:
        """
        An ellipsoid about the origin, its semi-axes along x, y and z [m].
        """
    @staticmethod
    def half_space() -> Shape:
        """
        All points with z <= 0, without end.
        """
    @staticmethod
    def sphere(radius: typing.SupportsFloat | typing.SupportsIndex) -> Shape:
        """
        A ball of this radius [m] about the origin.
        """
    @staticmethod
    def triangle(
        vertices: typing.Any, rounding: typing.SupportsFloat | typing.SupportsIndex = 0.0
    ) -> Shape:
        """
        A flat triangle of vertices (3, 3) [m]; with a rounding, all points within that distance [m] of it.
        """
    def __repr__(self) -> str: ...
    def support(self, directions: typing.Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        The points (n, 3) [m] of the shape that lie farthest in directions (n, 3) of any length. GeometryError for a
        half-space, which is unbounded.
        """
    @property
    def faces(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        Triangles of a convex shape, counter-clockwise from outside: indices into vertices, shape (m, 3).
        """
    @property
    def length(self) -> float:
        """
        Of capsule, cylinder, cone [m].
        """
    @property
    def radii(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Of ellipsoid: along x, y, z [m], shape (3,).
        """
    @property
    def radius(self) -> float:
        """
        Of sphere, capsule, cylinder, cone [m].
        """
    @property
    def rounding(self) -> float:
        """
        Of box, convex, triangle [m].
        """
    @property
    def size(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Of box: along x, y, z [m], shape (3,).
        """
    @property
    def type(self) -> str:
        """
        The name of its constructor.
        """
    @property
    def vertices(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Of convex, triangle [m], shape (n, 3).
        """

class Compound:
    """
    A body made of convex pieces, in a tree: shapes and other bodies fixed to each other.

    Compound([(part, pose), ...]): each part a Shape or a body made of pieces, with its pose (4, 4) in
    the frame of the body. Pieces are numbered through the parts. GeometryError names a bad part.
    """
    def __init__(
        self, parts: collections.abc.Sequence[tuple[Shape | Compound, typing.Any]]
    ) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def n_pieces(self) -> int:
        """
        How many convex pieces it has.
        """
    @property
    def parts(self) -> list[tuple[Shape | Compound, numpy.typing.NDArray[numpy.float64]]]:
        """
        What it is made of, each with its pose (4, 4) in the frame of the body; parts that were compounds themselves by theirs.
        """

class TriangleMesh(Compound):
    """
    A surface of triangles, concave or not: vertices (n, 3) [m], faces (m, 3), counter-clockwise seen from outside.

    Pieces are the faces. Vertices at one place count as one; faces without an area are no part of the surface. What a
    closed surface encloses belongs to it, unless solid is False: then there is the surface alone.
    GeometryError names a vertex that is not finite or beyond 1e6 m, and a face that names no vertex.
    """
    def __init__(self, vertices: typing.Any, faces: typing.Any, *, solid: bool = True) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def faces(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        (m, 3), indices into vertices.
        """
    @property
    def is_closed(self) -> bool:
        """
        Whether every edge has a face on either side and the faces look outwards, so that the surface encloses a volume.
        """
    @property
    def is_solid(self) -> bool:
        """
        Whether what it encloses belongs to it: closed, and not made with solid=False.
        """
    @property
    def vertices(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n, 3) [m].
        """

class HeightField(Compound):
    """
    Terrain: heights (n_x, n_y) [m] over a grid, solid below; heights[i, j] is at x = i * spacing, y = j * spacing.

    spacing [m]: one number, or along x and y (2,). Pieces are triangles: of cell (i, j), between the heights
    (i, j) and (i + 1, j + 1), 2 * (i * (n_y - 1) + j) and the next one, on either side of that diagonal.
    GeometryError names a bad height or spacing.
    """
    def __init__(self, heights: typing.Any, spacing: typing.Any) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def heights(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n_x, n_y) [m].
        """
    @property
    def spacing(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Along x and y [m], (2,).
        """

class PointCloud(Compound):
    """
    Balls of one radius [m] about points (n, 3) [m], which are its pieces.

    GeometryError names a point that is not finite or beyond 1e6 m, or a bad radius.
    """
    def __init__(
        self, points: typing.Any, radius: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def points(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n, 3) [m].
        """
    @property
    def radius(self) -> float:
        """
        Of each [m].
        """

class ShapeRates:
    """
    Of closest points by shapes; see robosim.geometry.WitnessDerivatives.
    """
    def feature(self, of_B: bool) -> tuple[str, int, float, float]:
        """
        (kind, number, slide, tilt) of what touches of it.
        """
    def scale(
        self, of_B: bool
    ) -> tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ]:
        """
        The same in a factor by which it grows.
        """
    def sizes(
        self, of_B: bool
    ) -> dict[
        str,
        tuple[
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ],
    ]:
        """
        By name, of A or B: rates of distance, p_WA, p_WB and normal.
        """

class Joint:
    """
    The moving joint that carries the body of the same number.
    """
    @property
    def X_PJ(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def axis(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def continuous(self) -> bool: ...
    @property
    def mimic(self) -> bool: ...
    @property
    def n_q(self) -> int: ...
    @property
    def n_v(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def offset(self) -> float: ...
    @property
    def parent(self) -> int:
        """
        Body index of the parent.
        """
    @property
    def pitch(self) -> float: ...
    @property
    def q_index(self) -> int: ...
    @property
    def ratio(self) -> float: ...
    @property
    def v_index(self) -> int: ...

class Frame:
    """
    A link: the body that carries it and where.
    """
    @property
    def X_BF(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def body(self) -> int: ...
    @property
    def name(self) -> str: ...

class Collider:
    """
    A shape fixed to a link.
    """
    @property
    def X_BC(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def body(self) -> int: ...
    @property
    def frame(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Shape | Compound: ...

class Inertia:
    """
    Mass, center of mass and inertia about it.
    """
    @property
    def I_com(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def com(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def mass(self) -> float: ...

class Model:
    """
    An articulated mechanism, immutable once built.
    """
    def with_armature(self, armature: typing.Any) -> Model: ...
    def with_collision_pairs(
        self,
        pairs: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
            ]
        ],
    ) -> Model: ...
    def with_disabled_collisions(
        self,
        disabled: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                str,
            ]
        ],
    ) -> Model: ...
    def with_gravity(self, gravity: typing.Any) -> Model: ...
    def with_joint_forces(
        self, damping: typing.Any, friction: typing.Any, friction_width: typing.Any
    ) -> Model: ...
    def with_limits(
        self,
        lower: typing.Any,
        upper: typing.Any,
        velocity: typing.Any,
        acceleration: typing.Any,
        effort: typing.Any,
    ) -> Model: ...
    def with_springs(
        self,
        stiffness: typing.Any,
        reference: typing.Any,
        rest_energy: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> Model: ...
    @property
    def acceleration(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def armature(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def colliders(self) -> list[Collider]: ...
    @property
    def collision_pairs(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def damping(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def disabled_collisions(self) -> list[tuple[str, str, str]]: ...
    @property
    def effort(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def frames(self) -> list[Frame]: ...
    @property
    def friction(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def friction_width(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def gravity(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def has_mimic(self) -> bool: ...
    @property
    def inertias(self) -> list[Inertia]: ...
    @property
    def joints(self) -> list[Joint]: ...
    @property
    def lower(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def massless(self) -> list[int]: ...
    @property
    def n_bodies(self) -> int: ...
    @property
    def n_q(self) -> int: ...
    @property
    def n_v(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def q_kinds(self) -> list[str]: ...
    @property
    def q_names(self) -> list[str]: ...
    @property
    def spring_reference(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def spring_rest_energy(self) -> float: ...
    @property
    def stiffness(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def upper(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def v_names(self) -> list[str]: ...
    @property
    def velocity(self) -> numpy.typing.NDArray[numpy.float64]: ...

class ExactBody:
    """
    What convex shapes stand for: a body within them, or of which each holds a part.
    """
    def __init__(self, body: Compound) -> None: ...
    def holds(self, p: typing.Any) -> bool: ...
    @property
    def is_open(self) -> bool: ...

class ModelBuilder:
    """
    Puts links and joints together to a Model.
    """
    def __init__(self, name: str, floating_base: bool) -> None: ...
    def add_collider(
        self,
        link: str,
        shape: Shape | Compound,
        X_LC: typing.Any,
        name: str,
        exact: ExactBody = None,
    ) -> None: ...
    def add_joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        X_PJ: typing.Any,
        axis: typing.Any,
        pitch: typing.SupportsFloat | typing.SupportsIndex | None,
        lower: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        upper: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        velocity: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        acceleration: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        effort: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        damping: typing.SupportsFloat | typing.SupportsIndex,
        friction: typing.SupportsFloat | typing.SupportsIndex,
        friction_width: typing.SupportsFloat | typing.SupportsIndex,
        stiffness: typing.SupportsFloat | typing.SupportsIndex,
        spring_reference: typing.SupportsFloat | typing.SupportsIndex,
        armature: typing.SupportsFloat | typing.SupportsIndex,
        rotor_inertia: typing.SupportsFloat | typing.SupportsIndex,
        gear_ratio: typing.SupportsFloat | typing.SupportsIndex,
        mimic: tuple[
            str,
            typing.SupportsFloat | typing.SupportsIndex,
            typing.SupportsFloat | typing.SupportsIndex,
        ]
        | None,
    ) -> None: ...
    def add_link(
        self,
        name: str,
        mass: typing.SupportsFloat | typing.SupportsIndex,
        com: typing.Any,
        inertia: typing.Any,
    ) -> None: ...
    def build(self, allow_massless: bool, filter_adjacent: bool) -> Model: ...
    def disable_collision(self, link_a: str, link_b: str, reason: str) -> None: ...

class OperationData:
    """
    Memory of the operations on one state of one model; not state. One per thread.
    """
    def __init__(self, model: Model) -> None: ...

class Batch:
    """
    Memory of the operations on batches of one model; not state.
    """
    def __init__(self) -> None: ...

class BoundOperation:
    """
    One operation on one model with fixed choices; see bind_operation.
    """
    def __call__(self, *args, **kwargs):
        """
        Call self as a function.
        """

class EdgeResult:
    """
    Whether a motion is free, and if not, where and what touches.
    """
    def __bool__(self) -> bool: ...
    @property
    def free(self) -> bool: ...
    @property
    def pair(self) -> typing.Any:
        """
        The two names that touch, or None.
        """
    @property
    def t(self) -> float:
        """
        Where it touches: the curve's parameter; 0 when free.
        """
    @property
    def work(self) -> int:
        """
        What it took, as SearchResult.work counts.
        """

class TurnTable:
    """
    Where two colliders of a model are known to be apart, over the angles of the one or two joints between them.
    """
    def is_free(self, lower: typing.Any, upper: typing.Any) -> bool:
        """
        Whether it is known to be apart at all angles from lower to upper, (n,) each.
        """
    @property
    def free(self) -> numpy.typing.NDArray[numpy.bool]:
        """
        (rows, cells): equal cells of whole turns from 0 on, of the last joint in a row; one row of one joint, of two
        a row for each cell of the first.
        """
    @property
    def q_index(self) -> list[int]:
        """
        The entries of q that these angles are.
        """

class CollisionScene:
    """
    The colliders of a model, extra objects and the exact pairs that must stay apart; immutable.

    bodies[i] is what extra object i is fixed to: 0 the world, else a moving body; poses[i] is its pose
    in that body. pairs (m, 2) number the model's colliders first, then the extras. tables: for each of
    them where it is known to be apart, a TurnTable or None; answers are the same without.
    """
    def __init__(
        self,
        model: Model,
        names: collections.abc.Sequence[str],
        shapes: collections.abc.Sequence[Shape | Compound],
        poses: typing.Any,
        bodies: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        pairs: typing.Any,
        tables: typing.Any = None,
    ) -> None: ...
    def collides(self, q: typing.Any) -> bool:
        """
        Whether any pair overlaps at q (n_q,).
        """
    def collides_many(
        self, q: typing.Any, threads: typing.SupportsInt | typing.SupportsIndex = 1
    ) -> numpy.typing.NDArray[numpy.bool]:
        """
        Whether any pair overlaps at each of the configurations q (n, n_q): (n,), bit for bit what `collides` says of each.

        Several configurations go side by side through bounds of balls, and to exact shapes where these decide nothing.
        At most `threads` threads share the work, 0 for as many as there are processors; their number changes nothing.
        """
    def collisions(
        self, q: typing.Any, margin: typing.SupportsFloat | typing.SupportsIndex = 0.0
    ) -> list:
        """
        All pairs with a signed distance below margin [m] at q (n_q,): a list of (name, name, distance).
        """
    def distances(self, q: typing.Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        Signed distance [m] of every pair (m,), in the order of `pairs`.
        """
    def distances_many(
        self, q: typing.Any, threads: typing.SupportsInt | typing.SupportsIndex = 1
    ) -> numpy.typing.NDArray[numpy.float64]:
        """
        Signed distance [m] of every pair, in the order of `pairs`, at each of the configurations q (n, n_q): (n, m), to rounding
        what `distances` says of each.

        Several configurations go side by side where the shapes are apart and none is curved but for spheres and capsules.
        At most `threads` threads share the work, 0 for as many as there are processors; their number changes nothing.
        """
    def edge_free(
        self,
        q0: typing.Any,
        q1: typing.Any,
        resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
    ) -> EdgeResult:
        """
        Whether the straight line from q0 to q1 is free of collisions, all of it: nothing is missed between samples.

        An edge that comes within resolution / 2 [m] of a collision may be called touching; near its ends much less.
        """
    def first_collision(self, q: typing.Any) -> typing.Any:
        """
        The names of one overlapping pair at q (n_q,), or None.
        """
    def min_distance(
        self, q: typing.Any
    ) -> tuple[
        float, str, str, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
    ]:
        """
        The smallest signed distance at q: (distance [m], name, name, point (3,), point (3,)), points in W.
        """
    def trajectory_free(
        self,
        times: typing.Any,
        coefficients: typing.Any,
        columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        q_rest: typing.Any,
        resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
    ) -> EdgeResult:
        """
        Whether a piecewise polynomial motion is free of collisions, all of it.

        Refused only if it comes within resolution / 1000 [m] of a collision, so that a path of free edges stays free.
        times (k + 1,), coefficients (k, order, n): q[columns] = sum_j coefficients[i, j] (t - times[i])**j on piece i, the
        other entries stay at q_rest (n_q,).
        """
    @property
    def n_colliders(self) -> int: ...
    @property
    def n_q(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def pairs(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def poses(self) -> list[numpy.typing.NDArray[numpy.float64]]:
        """
        (4, 4) of all objects, in the bodies that carry them.
        """
    @property
    def shapes(self) -> list[typing.Any]:
        """
        Of all objects, the model's colliders first.
        """
    @property
    def stand_ins(self) -> list[str]:
        """
        Names of objects whose shape stands for a mesh; depths of their overlaps are those of the shapes: upper bounds.
        """

class SearchResult:
    """
    What a search found, and what it cost.
    """
    @property
    def goal_index(self) -> int:
        """
        Which goal was reached, -1 unless solved.
        """
    @property
    def iterations(self) -> int:
        """
        Iterations done; one that took more than `work_per_iteration` counts as several.
        """
    @property
    def n_checks(self) -> int:
        """
        Configurations looked at by the edge checks.
        """
    @property
    def n_edges(self) -> int:
        """
        Edges checked.
        """
    @property
    def n_lines(self) -> int:
        """
        Straight lines tried, to goals and to what differs from these by whole turns, nearest first.
        """
    @property
    def n_vertices(self) -> int:
        """
        Vertices of both trees.
        """
    @property
    def pair(self) -> typing.Any:
        """
        What collides at the start or the first goal, where that is the status.
        """
    @property
    def path(self) -> typing.Any:
        """
        Waypoints (p, n_q); (0, n_q) unless solved.
        """
    @property
    def seconds(self) -> float: ...
    @property
    def status(self) -> str:
        """
        'solved', 'budget_exhausted', 'time_out', 'cancelled', 'start_out_of_limits', 'goal_out_of_limits',
        'start_in_collision' or 'goal_in_collision' (the latter two of goals: of all goals)
        """
    @property
    def work(self) -> int:
        """
        All that was asked of the scene and the trees, in bounds on the distance of two things.
        """

class BlendedPath:
    """
    A piecewise quadratic path with rounded corners.
    """
    @property
    def breaks(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (k + 1,), from 0.
        """
    @property
    def coefficients(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (k, 3, n): q[columns](s) = sum_j coefficients[i, j] (s - breaks[i])**j on piece i.
        """
    @property
    def stops(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        s of corners too tight for any blend, where the motion has to stop; usually empty.
        """

class SelfCollisionSearch:
    """
    Which pairs of links need no check: those that never or always touch.

    pairs (m, 2) of colliders, grouped by links; group_begin (k + 1,): where each of the k
    groups begins, and m.
    margin: distance below which a pair counts as one that can touch [m].
    """
    def __init__(
        self,
        model: Model,
        pairs: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
        group_begin: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
        margin: typing.SupportsFloat | typing.SupportsIndex,
        seed: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def begin_searches(
        self, q: typing.Any, most_work: typing.SupportsInt | typing.SupportsIndex
    ) -> None:
        """
        Prepares a search for a contact of each pair that is far, from the best of the configurations q (n, n_q).

        most_work: of all searches together, in placements of one joint. Pairs that are left then are undecided.
        """
    def prove(self) -> None:
        """
        Finds out which pairs can be proven to stay apart by their reach.
        """
    def sample(self, q: typing.Any) -> None:
        """
        Looks at the configurations q (n, n_q).
        """
    def search(self, work: typing.SupportsInt | typing.SupportsIndex) -> bool:
        """
        Goes on for about so much work; returns whether searches are left.
        """
    @property
    def states(self) -> numpy.typing.NDArray[numpy.int8]:
        """
        (k,) of each group: 0 far, 1 touching in all configurations, 2 apart by proof, 3 reachable, 4 undecided.
        """

class OptimizedPath:
    """
    What an optimization made of a path.
    """
    @property
    def cost_after(self) -> float:
        """
        Of the path found, by the same weights.
        """
    @property
    def cost_before(self) -> float:
        """
        Of the path given, by the weights used last.
        """
    @property
    def improved(self) -> bool:
        """
        False: the path is the one given.
        """
    @property
    def iterations(self) -> int: ...
    @property
    def path(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Waypoints (p, n_q).
        """

class IkResult:
    """
    Solutions of inverse kinematics, nearest first, or the closest that it came.
    """
    @property
    def best(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Without solutions: (n_q) the closest that it came; else empty.
        """
    @property
    def best_error(self) -> tuple[float, float]:
        """
        What that lacks to the goal's box: [m], [rad].
        """
    @property
    def beyond(self) -> typing.Any:
        """
        Where the goal is proven out of reach (distance, least, most [m], first, last): the distance that points on the axes of
        these two joints would have, and between which it can be; else None.
        """
    @property
    def errors(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (k, 2): what each lacks to the goal's box [m], [rad].
        """
    @property
    def iterations(self) -> int: ...
    @property
    def seconds(self) -> float:
        """
        Time it took.
        """
    @property
    def seeds(self) -> int:
        """
        How many were tried.
        """
    @property
    def solutions(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (k, n_q), nearest to the reference first.
        """

class TimingResult:
    """
    A timed path, or why there is none.
    """
    @property
    def breaks(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (k + 1) [s], from 0.
        """
    @property
    def coefficients(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (k, 6, n) in powers of (t - breaks[i]).
        """
    @property
    def column(self) -> int:
        """
        What the reason is about: a column, for 'static_torque' an entry of v; -1 for none.
        """
    @property
    def deviation(self) -> float:
        """
        Bound of how far the moving average leaves the path, over columns [rad, m].
        """
    @property
    def duration(self) -> float: ...
    @property
    def intervals(self) -> int:
        """
        Of the grid.
        """
    @property
    def reason(self) -> str:
        """
        In words; empty when solved.
        """
    @property
    def resisted(self) -> bool:
        """
        Whether torque limits shape it, of joints with damping or dry friction: these may be anything up to what is stated.
        """
    @property
    def s(self) -> float:
        """
        Where on the path the reason is about.
        """
    @property
    def seconds(self) -> float:
        """
        Time it took.
        """
    @property
    def slowdown(self) -> float:
        """
        Factor of a last uniform slowing down for torque limits; 1 when the optimization kept them.
        """
    @property
    def sooner_as_stated(self) -> float:
        """
        How much sooner the motion could end if damping and dry friction were surely as the model says [s].
        """
    @property
    def sooner_without(self) -> float:
        """
        How much sooner it could end if there were surely none [s].
        """
    @property
    def status(self) -> str:
        """
        'solved', 'zero_limit', 'static_torque', 'start_velocity', 'end_velocity', 'torque_limit' or 'jerk_start_velocity'.
        """
    @property
    def torque_limited(self) -> bool:
        """
        Whether torque limits shape the motion.
        """
    @property
    def window(self) -> float:
        """
        Of the moving average for jerk limits [s].
        """

class StepReport:
    """
    How a step was solved; see robosim.simulation.StepReport.
    """
    @property
    def attempt(self) -> str: ...
    @property
    def class_changes(self) -> int: ...
    @property
    def contacts(self) -> int: ...
    @property
    def coupled_bounces(self) -> int: ...
    @property
    def islands(self) -> int: ...
    @property
    def pivots(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def rows(self) -> int: ...
    @property
    def status(self) -> int: ...
    @property
    def untimed_bounces(self) -> int: ...

class FrameClosure:
    """
    Frame F of one body and frame G of another that stay together; see robosim.world.PointClosure and Weld.
    """
    def __init__(
        self,
        *,
        name: str,
        body_a: typing.SupportsInt | typing.SupportsIndex,
        X_AF: typing.Any,
        body_b: typing.SupportsInt | typing.SupportsIndex,
        X_BG: typing.Any,
        held: typing.Annotated[collections.abc.Sequence[bool], "FixedSize(3)"],
        is_weld: bool,
    ) -> None: ...

class JointEquality:
    """
    A law between joints, by their entries of v; see robosim.world.JointEquality.
    """
    def __init__(
        self,
        *,
        name: str,
        of: typing.SupportsInt | typing.SupportsIndex,
        joint: typing.SupportsInt | typing.SupportsIndex,
        coefficients: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(5)"
        ],
    ) -> None: ...

class MeshOfSimulation:
    """
    A shape with vertices; see robosim.simulation.MeshRows.
    """
    @property
    def first_row(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def object(self) -> int: ...
    @property
    def shape(self) -> Shape: ...

class JacobianArrays:
    """
    See robosim.simulation.Jacobians.
    """
    @property
    def causes(self) -> numpy.typing.NDArray[numpy.uint8]: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def q(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def q_target(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def tau(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def v(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def v_target(self) -> numpy.typing.NDArray[numpy.float64]: ...

class ParameterKind:
    """
    See robosim.simulation.ParameterKind; first and stride tell where the numbers of its owners are.
    """
    @property
    def about(self) -> str: ...
    @property
    def first(self) -> int: ...
    @property
    def least(self) -> float: ...
    @property
    def most(self) -> float: ...
    @property
    def name(self) -> str: ...
    @property
    def owner(self) -> str: ...
    @property
    def owners(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def stride(self) -> int: ...
    @property
    def unit(self) -> str: ...

class ContactForce:
    """
    See robosim.simulation.ContactForce.
    """
    @property
    def A(self) -> str: ...
    @property
    def B(self) -> str: ...
    @property
    def feature_A(self) -> tuple[str, int, int]: ...
    @property
    def feature_B(self) -> tuple[str, int, int]: ...
    @property
    def force(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def gap(self) -> float: ...
    @property
    def mode(self) -> str: ...
    @property
    def moment(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def normal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def point(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def slide(self) -> float: ...

class JointForce:
    """
    See robosim.simulation.JointForce; coordinate is an entry of v.
    """
    @property
    def coordinate(self) -> int: ...
    @property
    def force(self) -> float: ...
    @property
    def source(self) -> str: ...

class ClosureForce:
    """
    See robosim.simulation.ClosureForce.
    """
    @property
    def force(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def moment(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def name(self) -> str: ...
    @property
    def point(self) -> numpy.typing.NDArray[numpy.float64]: ...

class StepRow:
    """
    See robosim.simulation.StepRow.
    """
    @property
    def direction(self) -> numpy.typing.NDArray[numpy.float64] | None: ...
    @property
    def impulse(self) -> float: ...
    @property
    def law(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def of(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def switch(self) -> float: ...
    @property
    def target(self) -> float: ...
    @property
    def velocity(self) -> float: ...

class StepImpact:
    """
    See robosim.simulation.StepImpact.
    """
    @property
    def after(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def before(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def landed(self) -> list[StepRow]: ...
    @property
    def restored(self) -> float: ...
    @property
    def rows(self) -> list[StepRow]: ...
    @property
    def share(self) -> float: ...

class StepIsland:
    """
    See robosim.simulation.StepIsland.
    """
    @property
    def admittance(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def impacts(self) -> list[StepImpact]: ...
    @property
    def rows(self) -> list[StepRow]: ...
    @property
    def way(self) -> list[StepRow]: ...

class StepDetails:
    """
    All that acted in a step.
    """
    @property
    def closures(self) -> list[ClosureForce]: ...
    @property
    def contacts(self) -> list[ContactForce]: ...
    @property
    def islands(self) -> list[StepIsland]: ...
    @property
    def joints(self) -> list[JointForce]: ...
    @property
    def taken_back(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n_v,) the part of the mean velocity over the step that takes back overlaps.
        """

class GradientArrays:
    """
    See robosim.simulation.StepGradient.
    """
    @property
    def causes(self) -> numpy.typing.NDArray[numpy.uint8]: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def q(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def q_target(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def tau(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def v(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def v_target(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def vertices(self) -> numpy.typing.NDArray[numpy.float64]: ...

class TakenStep:
    """
    A step that was taken, with its derivatives; see robosim.simulation.Linearization.
    """
    def hvp(
        self, next_bar: tuple[typing.Any, typing.Any], direction: dict
    ) -> tuple[GradientArrays, GradientArrays]: ...
    def jacobians(
        self,
        by: typing.Annotated[collections.abc.Sequence[bool], "FixedSize(5)"],
        parameters: tuple[
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        ]
        | None = None,
    ) -> JacobianArrays: ...
    def jvp(
        self, direction: dict
    ) -> tuple[
        tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], int
    ]: ...
    def vjp(self, next_bar: tuple[typing.Any, typing.Any]) -> GradientArrays: ...
    @property
    def details(self) -> StepDetails:
        """
        All that acted in it.
        """
    @property
    def report(self) -> StepReport: ...
    @property
    def signature(self) -> bytes: ...
    @property
    def state(
        self,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """
        (q, v) at its end.
        """

class Simulation:
    """
    Time steps of a scene with materials and motors; see robosim.simulation.
    """
    def __init__(
        self,
        scene: CollisionScene,
        materials: typing.Any,
        motors: typing.Any,
        closures: collections.abc.Sequence[FrameClosure],
        equalities: collections.abc.Sequence[JointEquality],
        dt: typing.SupportsFloat | typing.SupportsIndex,
        solver: str,
        integrator: str,
        sweeps: typing.SupportsInt | typing.SupportsIndex,
        erp: typing.SupportsFloat | typing.SupportsIndex,
        recovery_speed: typing.SupportsFloat | typing.SupportsIndex,
        margin: typing.SupportsFloat | typing.SupportsIndex,
        limit_margin: typing.SupportsFloat | typing.SupportsIndex,
        speed_limits: bool,
        restitution_threshold: typing.SupportsFloat | typing.SupportsIndex,
        bounce: str,
        complementarity_aware: str,
        substeps: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def parameter_values(
        self,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """
        Numbers of all parameters, and of vertices (n, 3).
        """
    def run(
        self,
        states: tuple[typing.Any, typing.Any],
        steps: typing.SupportsInt | typing.SupportsIndex,
        interval: typing.SupportsInt | typing.SupportsIndex,
        is_shared: bool,
        control: tuple[typing.Any, typing.Any, typing.Any],
        threads: typing.SupportsInt | typing.SupportsIndex,
        progress: typing.Any,
    ) -> tuple[
        tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]],
        RolloutReports,
    ]:
        """
        Of many rollouts; the arrays of a control each with a row per step, shared or of each rollout its own. progress is None or called with the steps taken.
        """
    def run_jacobians(
        self,
        states: tuple[typing.Any, typing.Any],
        steps: typing.SupportsInt | typing.SupportsIndex,
        interval: typing.SupportsInt | typing.SupportsIndex,
        is_shared: bool,
        control: tuple[typing.Any, typing.Any, typing.Any],
        threads: typing.SupportsInt | typing.SupportsIndex,
        progress: typing.Any,
        by: typing.Annotated[collections.abc.Sequence[bool], "FixedSize(5)"],
        parameters: tuple[
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        ]
        | None = None,
    ) -> JacobianArrays:
        """
        Of many rollouts; the arrays of a control each with a row per step, shared or of each rollout its own. progress is None or called with the steps taken.
        """
    def run_vjp(
        self,
        states: tuple[typing.Any, typing.Any],
        bars: tuple[typing.Any, typing.Any],
        steps: typing.SupportsInt | typing.SupportsIndex,
        interval: typing.SupportsInt | typing.SupportsIndex,
        is_shared: bool,
        control: tuple[typing.Any, typing.Any, typing.Any],
        threads: typing.SupportsInt | typing.SupportsIndex,
        progress: typing.Any,
        by: typing.Annotated[collections.abc.Sequence[bool], "FixedSize(3)"],
    ) -> GradientArrays:
        """
        Of many rollouts; the arrays of a control each with a row per step, shared or of each rollout its own. progress is None or called with the steps taken.
        """
    def step(
        self,
        state: tuple[typing.Any, typing.Any],
        control: tuple[typing.Any, typing.Any, typing.Any],
    ) -> tuple[
        tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], StepReport
    ]:
        """
        A state is (q, v), a control (tau, q_target, v_target), each None or an array; see robosim.simulation.State and Control.
        """
    def take(
        self,
        state: tuple[typing.Any, typing.Any],
        control: tuple[typing.Any, typing.Any, typing.Any],
    ) -> TakenStep:
        """
        A state is (q, v), a control (tau, q_target, v_target), each None or an array; see robosim.simulation.State and Control.
        """
    def with_parameter_values(
        self,
        scene: typing.Any,
        model: typing.Any,
        numbers: typing.Any,
        vertices: typing.Any,
        substeps: typing.SupportsInt | typing.SupportsIndex | None = None,
    ) -> tuple[typing.Any, typing.Any, typing.Any]:
        """
        The same with other values: simulation, scene and model, those that are given where these have not changed.
        """
    @property
    def meshes(self) -> list[MeshOfSimulation]: ...
    @property
    def parameter_kinds(self) -> list[ParameterKind]: ...

class RolloutReports:
    """
    How each of several rollouts was solved, as arrays of StepReport's numbers.
    """
    @property
    def attempt(self) -> list[str]: ...
    @property
    def class_changes(self) -> numpy.typing.NDArray[numpy.int64]: ...
    @property
    def contacts(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def coupled_bounces(self) -> numpy.typing.NDArray[numpy.int64]: ...
    @property
    def first_unsolved(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def islands(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def pivots(self) -> numpy.typing.NDArray[numpy.int64]: ...
    @property
    def residual(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def rows(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def status(self) -> numpy.typing.NDArray[numpy.uint8]: ...
    @property
    def untimed_bounces(self) -> numpy.typing.NDArray[numpy.int64]: ...

def bind_operation(
    operation: typing.SupportsInt | typing.SupportsIndex,
    model: Model,
    data: OperationData,
    frames: typing.SupportsInt
    | typing.SupportsIndex
    | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    wrench_frames: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    local: bool = False,
    joint_forces: bool = False,
    columns: typing.SupportsInt | typing.SupportsIndex = -1,
    results: typing.Any = None,
    otherwise: typing.Any = None,
) -> typing.Any:
    """
    A callable that takes the operation's arrays by position and returns arrays of its own, the same ones every time.
    """

def blend_corners(
    scene: CollisionScene,
    path: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
    weights: typing.Any = None,
    largest: typing.SupportsFloat | typing.SupportsIndex = ...,
) -> BlendedPath:
    """
    Rounds the corners of the free polyline path (p, n_q) by quadratic curves as large as they are free: C1 in s.

    s is the metric length along straight parts and |dq/ds| <= 1 in blends, each of which takes at most half of an edge,
    and at most `largest` of it. Where points follow each other smoothly at nearly equal distances, curves run from middle to middle
    of the edges and |dq/ds| changes with the edges' lengths: a uniform quadratic B-spline.
    """

def bodies_closer_than(
    margin: typing.SupportsFloat | typing.SupportsIndex,
    A: Shape | Compound,
    X_WA: typing.Any,
    B: Shape | Compound,
    X_WB: typing.Any,
) -> bool:
    """
    See robosim.geometry.collide.
    """

def body_bounding_box(
    body: Compound, X_WB: typing.Any
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    See robosim.geometry.bounding_box.
    """

def bounding_ball(shape: Shape) -> tuple[numpy.typing.NDArray[numpy.float64], float]:
    """
    (center (3,), radius) [m] of the smallest ball around the shape, in its frame.
    """

def bounding_box(
    shape: Shape, X_WS: typing.Any
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    (lower (3,), upper (3,)) [m]: the axis-aligned box in W of the posed shape.
    """

def brake(
    q: typing.Any,
    velocity: typing.Any,
    acceleration: typing.Any,
    jerk: typing.Any = None,
    fraction: typing.SupportsFloat | typing.SupportsIndex = 1.0,
) -> tuple:
    """
    From q with this velocity straight to rest within fraction * acceleration and jerk: (breaks, coefficients (k, 6, n)).
    """

def build_info() -> dict:
    """
    How this module was built and what the processor offers, as a dict of strings and lists of strings.
    """

def check_configuration(model: Model, q: typing.Any) -> None:
    """
    ModelError where q is not (n_q,) finite numbers, or a quaternion in it has no length that can be scaled to 1.
    """

def close_xla_calls() -> None:
    """
    Let no further call reach Python, and wait for those that are under way: to be called as Python ends.
    """

def closer_than(
    margin: typing.SupportsFloat | typing.SupportsIndex,
    A: Shape,
    X_WA: typing.Any,
    B: Shape,
    X_WB: typing.Any,
) -> bool:
    """
    Whether the signed distance is less than margin [m], by the first proof either way.
    """

def closest_pieces(
    A: Shape | Compound, X_WA: typing.Any, B: Shape | Compound, X_WB: typing.Any
) -> tuple[
    tuple[
        float,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    int,
    int,
]:
    """
    See robosim.geometry.closest_pieces.
    """

def contact_manifold(
    A: Shape,
    X_WA: typing.Any,
    B: Shape,
    X_WB: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[
    float,
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    list[tuple[str, int, int]],
    list[tuple[str, int, int]],
    numpy.typing.NDArray[numpy.float64],
    int,
]:
    """
    See robosim.geometry.contact_manifold.
    """

def contact_manifold_derivatives(
    A: Shape,
    X_WA: typing.Any,
    B: Shape,
    X_WB: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[
    tuple[
        float,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        list[tuple[str, int, int]],
        list[tuple[str, int, int]],
        numpy.typing.NDArray[numpy.float64],
        int,
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    dict[
        str,
        tuple[
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ],
    ],
    dict[
        str,
        tuple[
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    numpy.typing.NDArray[numpy.bool],
]:
    """
    See robosim.geometry.contact_manifold_derivatives.
    """

def contact_manifolds(
    A: Shape | Compound,
    X_WA: typing.Any,
    B: Shape | Compound,
    X_WB: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
) -> list[
    tuple[
        tuple[
            float,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            list[tuple[str, int, int]],
            list[tuple[str, int, int]],
            numpy.typing.NDArray[numpy.float64],
            int,
        ],
        int,
        int,
    ]
]:
    """
    See robosim.geometry.contact_manifolds.
    """

def contact_rates(
    scene: CollisionScene,
    q: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
    smoothing: typing.SupportsFloat | typing.SupportsIndex,
) -> list:
    """
    See robosim.scene.contact_derivatives.
    """

def contacts(
    margin: typing.SupportsFloat | typing.SupportsIndex,
    A: Shape | Compound,
    X_WA: typing.Any,
    B: Shape | Compound,
    X_WB: typing.Any,
) -> list[
    tuple[
        tuple[
            float,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ],
        int,
        int,
    ]
]:
    """
    See robosim.geometry.contacts.
    """

def distance_lower_bound(
    enough: typing.SupportsFloat | typing.SupportsIndex,
    A: Shape,
    X_WA: typing.Any,
    B: Shape,
    X_WB: typing.Any,
) -> float:
    """
    A certified lower bound on the distance [m], 0 for an overlap; computed only as far as `enough`.
    """

def draw_picture(
    corners: typing.Any,
    centers: typing.Any,
    radii: typing.Any,
    width: typing.SupportsInt | typing.SupportsIndex,
    height: typing.SupportsInt | typing.SupportsIndex,
    focal: typing.SupportsFloat | typing.SupportsIndex,
    near: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float32]]:
    """
    What each pixel sees of triangles (m, 3, 3), corners in pixels with their nearness, and of balls (k, 3) in the camera's frame [m]:
    numbers (height, width), -1 for nothing, balls after triangles, and nearness (height, width), 0 for nothing.
    """

def evaluate(
    operation: typing.SupportsInt | typing.SupportsIndex,
    model: Model,
    data: OperationData,
    inputs: tuple,
    out: typing.Any = None,
    frames: typing.SupportsInt
    | typing.SupportsIndex
    | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    wrench_frames: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    local: bool = False,
    joint_forces: bool = False,
    columns: typing.SupportsInt | typing.SupportsIndex = -1,
) -> typing.Any: ...
def evaluate_batch(
    operation: typing.SupportsInt | typing.SupportsIndex,
    model: Model,
    batch: Batch,
    inputs: tuple,
    out: typing.Any = None,
    frames: typing.SupportsInt
    | typing.SupportsIndex
    | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    wrench_frames: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    local: bool = False,
    joint_forces: bool = False,
    columns: typing.SupportsInt | typing.SupportsIndex = -1,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
) -> typing.Any: ...
def farthest_from(shape: Shape, p_S: typing.Any) -> float:
    """
    Farthest distance [m] of a point of the shape from p_S (3,) of its frame.
    """

def free_line(
    scene: CollisionScene,
    start: typing.Any,
    goals: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    lower: typing.Any,
    upper: typing.Any,
    periodic: typing.Any = None,
    full_turns: typing.Any = None,
    skip: typing.SupportsInt | typing.SupportsIndex = 0,
    below: typing.SupportsFloat | typing.SupportsIndex = ...,
    deadline_s: typing.SupportsFloat | typing.SupportsIndex = ...,
    resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
) -> SearchResult:
    """
    The shortest free straight line from start (n_q,) to any of goals (k, n_q), or to what differs from one by whole turns.

    periodic and full_turns as in rrt_connect, whose first `skip` lines are left out. Lines not shorter than `below`, Euclidean in
    q[columns], are not looked at. The goals are taken for free.
    """

def full_turns(
    start: typing.Any,
    goals: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    lower: typing.Any,
    upper: typing.Any,
    periodic: typing.Any,
    full_turns: typing.Any,
    most: typing.SupportsInt | typing.SupportsIndex = 1000,
) -> tuple[numpy.typing.NDArray[numpy.float64], list[int]]:
    """
    The goals (k, n_q) and what differs from them by whole turns, as in rrt_connect: configurations (m, n_q) within limits, nearest
    to the start (n_q,) first, m <= most, and which goal each stands for.
    """

def gather_light(
    corners: typing.Any,
    centers: typing.Any,
    radii: typing.Any,
    positions: typing.Any,
    normals: typing.Any,
    groups: typing.Any,
    lights: typing.Any,
    n_groups: typing.SupportsInt | typing.SupportsIndex,
    side: typing.SupportsInt | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.float32]:
    """
    Of points (n, 3) with normals, float32, the sums (n, 3) over the lights of their group that they see past triangles (m, 3, 3) and balls
    (k, 3) in W: of max(n . l, 0), of l_z times that, and of 1. Lights (d, 3) are directions; every n_groups-th is of a group. The `side`
    of a light's buffer is in pixels.
    """

def inertial_parameters(model: Model) -> numpy.typing.NDArray[numpy.float64]: ...
def inverse_kinematics(
    model: Model,
    frame: typing.SupportsInt | typing.SupportsIndex,
    X_WG: typing.Any,
    *,
    box_lower: typing.Any = None,
    box_upper: typing.Any = None,
    X_FE: typing.Any = None,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
    lower: typing.Any = None,
    upper: typing.Any = None,
    seeds: typing.Any = None,
    reference: typing.Any,
    random_seeds: typing.SupportsInt | typing.SupportsIndex = 100,
    seed: typing.SupportsInt | typing.SupportsIndex = 0,
    max_iterations: typing.SupportsInt | typing.SupportsIndex = 60,
    max_solutions: typing.SupportsInt | typing.SupportsIndex = 64,
    position_tolerance: typing.SupportsFloat | typing.SupportsIndex = 1e-06,
    rotation_tolerance: typing.SupportsFloat | typing.SupportsIndex = 1e-06,
    distinct: typing.SupportsFloat | typing.SupportsIndex = 0.01,
    position_slack: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    rotation_slack: typing.SupportsFloat | typing.SupportsIndex = 0.0,
) -> IkResult:
    """
    Configurations with frame E (X_FE on the model's frame of this index) at the goal pose X_WG (4, 4), or within the box
    box_lower <= (x, y, z [m], rotation x, y, z [rad]) <= box_upper about it, in its axes; infinite bounds free an axis.
    Rotation: the twist about the axis with the widest range, then a rotation vector for the other two.
    columns: the entries of q that may move (all but floating joints'), within lower and upper (the model's limits); the
    others stay as in reference (n_q), which also decides what is near. seeds (k, n_q) are tried first, then random_seeds
    spread over the limits, shifted by seed, until max_solutions distinct ones are found. Of configurations 2 pi apart the
    nearest to the reference is given. What is proven out of reach by more than the slacks is tried from few seeds.
    """

def inverse_kinematics_many(
    model: Model,
    frame: typing.SupportsInt | typing.SupportsIndex,
    poses: typing.Any,
    *,
    start: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    lower: typing.Any,
    upper: typing.Any,
    box_lower: typing.Any,
    box_upper: typing.Any,
    position_tolerance: typing.SupportsFloat | typing.SupportsIndex = 1e-06,
    rotation_tolerance: typing.SupportsFloat | typing.SupportsIndex = 1e-06,
    scene: CollisionScene = None,
    seed: typing.SupportsInt | typing.SupportsIndex = 0,
    attempts: typing.SupportsInt | typing.SupportsIndex = 101,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
    progress: typing.Any = None,
) -> dict:
    """
    A configuration for each of the poses (n, 4, 4) of a frame, or for the box about it as in inverse_kinematics:
    a dict of q (n, n_q), status (n) as an index into ik_statuses, attempts (n), position_error and rotation_error
    (n), and reach (n, 3): where out of reach the distance of points on the axes of two joints that the pose
    takes, and the least and most that it can be; joints: their names.
    start: (n_q) or (n, n_q), the first attempt. scene: of this model; answers are free of collisions.
    progress(done) is called now and then, and ends it by returning False.
    """

def merged_points(
    points: typing.Any, edge: typing.SupportsFloat | typing.SupportsIndex
) -> tuple[numpy.typing.NDArray[numpy.float64], float]:
    """
    See robosim.scene.clean_cloud: (points (k, 3), distance of the farthest point from the one that stands for it).
    """

def near_robot(
    scene: CollisionScene,
    q: typing.Any,
    points: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.bool]:
    """
    Whether each of the points (n, 3) in W is within margin [m] of the robot at q (n_q,), or of what it holds: (n,).
    """

def neutral(model: Model) -> numpy.typing.NDArray[numpy.float64]: ...
def operations() -> dict: ...
def optimize_path(
    scene: CollisionScene,
    path: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    lower: typing.Any,
    upper: typing.Any,
    clearance: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    smoothness: typing.SupportsFloat | typing.SupportsIndex = 0.03,
    iterations: typing.SupportsInt | typing.SupportsIndex = 60,
    deadline_s: typing.SupportsFloat | typing.SupportsIndex = ...,
    resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
) -> OptimizedPath:
    """
    A path between the ends of the free polyline path (p, n_q), within lower and upper (n,) of the columns, that is shorter,
    rounder and farther from what it passes, up to `clearance` [m]; every edge is proven free. Or the path given, when
    nothing better was found. See robosim.planners.optimize.
    """

def ray_cast(
    shape: Shape | Compound,
    X_WS: typing.Any,
    origins: typing.Any,
    directions: typing.Any,
    max_t: typing.SupportsFloat | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
) -> tuple[
    numpy.typing.NDArray[numpy.bool],
    numpy.typing.NDArray[numpy.bool],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.int64],
]:
    """
    See robosim.geometry.ray_cast.
    """

def ray_cast_derivatives(
    shape: Shape, X_WS: typing.Any, origin: typing.Any, direction: typing.Any
) -> tuple[
    tuple[
        bool, bool, float, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    dict[
        str,
        tuple[
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    tuple[str, int, float, float],
    bool,
]:
    """
    See robosim.geometry.ray_cast_derivatives.
    """

def rrt_connect(
    scene: CollisionScene,
    start: typing.Any,
    goals: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    lower: typing.Any,
    upper: typing.Any,
    seed: typing.SupportsInt | typing.SupportsIndex = 0,
    max_iterations: typing.SupportsInt | typing.SupportsIndex = 100000,
    deadline_s: typing.SupportsFloat | typing.SupportsIndex = ...,
    resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
    progress: typing.Any = None,
    range: typing.SupportsFloat | typing.SupportsIndex = 0.6,
    weights: typing.Any = None,
    periodic: typing.Any = None,
    full_turns: typing.Any = None,
) -> SearchResult:
    """
    RRT-Connect from start (n_q,) to any of goals (k, n_q), moving the entries `columns` of q within lower, upper (n,).

    Every edge is proven free as a whole at `resolution` [m] (see edge_free). The result depends on the seed and
    max_iterations alone; deadline_s [s] just cuts. range: longest edge, in the metric sqrt(sum (weights dq)^2).
    progress() is called every 50 ms or so; it stops the search by returning False. periodic (n,): columns of which 2 pi more is
    the same pose, and full_turns (k,): goals for which any configuration that differs by whole turns will do; None: none.
    """

def sample_configuration(model: Model, u: typing.Any) -> numpy.typing.NDArray[numpy.float64]: ...
def sample_self_collisions(
    model: Model,
    seed: typing.SupportsInt | typing.SupportsIndex = 0,
    samples: typing.SupportsInt | typing.SupportsIndex = 10000,
    pairs: typing.Any = None,
) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]:
    """
    How often pairs of colliders touch at `samples` random configurations within the limits.

    pairs (m, 2) of collider indices; by default all pairs on different bodies. Returns (pairs (m, 2), counts (m,)).
    """

def sampling_window(
    start: typing.Any,
    goals: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    lower: typing.Any,
    upper: typing.Any,
    periodic: typing.Any,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Bounds (c,), (c,) for a search from `start` (n_q,) to rows of `goals` (k, n_q): the limits, of columns that are periodic (c,)
    no more than a turn.
    """

def scene_ray_cast(
    scene: CollisionScene,
    q: typing.Any,
    origins: typing.Any,
    directions: typing.Any,
    max_t: typing.SupportsFloat | typing.SupportsIndex,
    ignore: collections.abc.Sequence[str],
    threads: typing.SupportsInt | typing.SupportsIndex,
) -> tuple[
    numpy.typing.NDArray[numpy.bool],
    numpy.typing.NDArray[numpy.bool],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.int64],
]:
    """
    See robosim.scene.ray_cast.
    """

def set_thread_limit(n: typing.SupportsInt | typing.SupportsIndex) -> None: ...
def shape_sizes() -> dict[str, dict[str, str]]:
    """
    The sizes of every type of shape; see robosim.geometry.shape_sizes.
    """

def shortcut(
    scene: CollisionScene,
    path: typing.Any,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    seed: typing.SupportsInt | typing.SupportsIndex = 0,
    iterations: typing.SupportsInt | typing.SupportsIndex = 100,
    deadline_s: typing.SupportsFloat | typing.SupportsIndex = ...,
    resolution: typing.SupportsFloat | typing.SupportsIndex = 0.005,
    weights: typing.Any = None,
    patience: typing.SupportsInt | typing.SupportsIndex = 15,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    A shorter free polyline between the ends of the free polyline path (p, n_q): seeded shortcuts in all columns or in one.

    Ends early once `patience` attempts in a row gained less than 1 % of the length together.
    """

def signed_distance(
    A: Shape, X_WA: typing.Any, B: Shape, X_WB: typing.Any
) -> tuple[
    float,
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]:
    """
    (distance, p_WA, p_WB, normal) of two posed shapes; see robosim.geometry.signed_distance.
    """

def signed_distance_derivatives(
    A: Shape | Compound, X_WA: typing.Any, B: Shape | Compound, X_WB: typing.Any
) -> tuple[
    tuple[
        float,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    bool,
    ShapeRates,
]:
    """
    (witness, rates in both twists, one_sided, those in the shapes); see robosim.geometry.signed_distance_derivatives.
    """

def smoothed_distance(
    smoothing: typing.SupportsFloat | typing.SupportsIndex,
    A: Shape,
    X_WA: typing.Any,
    B: Shape,
    X_WB: typing.Any,
) -> tuple[
    tuple[
        float,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    bool,
]:
    """
    See robosim.geometry.smoothed_distance.
    """

def thread_limit() -> int: ...
def time_of_impact(
    A: Shape,
    X_WA0: typing.Any,
    X_WA1: typing.Any,
    B: Shape,
    X_WB0: typing.Any,
    X_WB1: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
    tolerance: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[
    str,
    float,
    tuple[
        float,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
    ],
    float,
    int,
]:
    """
    See robosim.geometry.time_of_impact.
    """

def time_of_impact_derivatives(
    A: Shape,
    X_WA0: typing.Any,
    X_WA1: typing.Any,
    B: Shape,
    X_WB0: typing.Any,
    X_WB1: typing.Any,
    margin: typing.SupportsFloat | typing.SupportsIndex,
    tolerance: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[
    tuple[
        str,
        float,
        tuple[
            float,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ],
        float,
        int,
    ],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    bool,
]:
    """
    See robosim.geometry.time_of_impact_derivatives.
    """

def time_path(
    breaks: typing.Any,
    coefficients: typing.Any,
    velocity: typing.Any,
    acceleration: typing.Any,
    *,
    jerk: typing.Any = None,
    start_velocity: typing.Any = None,
    end_velocity: typing.Any = None,
    model: Model = None,
    columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
    q_rest: typing.Any = None,
    effort: typing.Any = None,
    names: collections.abc.Sequence[str] = [],
    tool_speed: collections.abc.Mapping[str, typing.SupportsFloat | typing.SupportsIndex] = {},
) -> TimingResult:
    """
    The fastest motion along a piecewise quadratic path q(s), breaks (k + 1) and coefficients (k, 3, n), within limits per
    column (infinite for none). With a model, torques are limited too, by effort (n_v; the model's by default): the path's
    columns are then these entries of q, the others stay as in q_rest; tool_speed has the most that the origins of links may move,
    by name [m/s]. Velocities at the ends have to be along the path. The
    motion stops where the path has a corner. A jerk limit lets the motion leave the path by `deviation`: check it again.
    """

def total_mass(model: Model) -> float: ...
def turn_tables(
    model: Model,
    pairs: typing.Any,
    least: typing.SupportsFloat | typing.SupportsIndex = 0.001,
    most_boxes: typing.SupportsInt | typing.SupportsIndex = 30000,
) -> list:
    """
    For each of the pairs (m, 2) of colliders a TurnTable, or None where nothing is known of it.

    Only those are looked at between which one or two joints turn about an axis, each by a coordinate of its own, and
    each for at most `most_boxes` distances. least: what they are at least apart where the table says free [m].
    """

def xla_handler(
    look_up: typing.Any,
    major: typing.SupportsInt | typing.SupportsIndex,
    minor: typing.SupportsInt | typing.SupportsIndex,
) -> typing_extensions.CapsuleType:
    """
    What XLA of this version of its interface calls, with a key (int32) and more: the function that look_up(key) gives, with arrays of its argument_types and, to be filled, of its result_types.
    """

bounces: list = ["automatic", "step", "time_of_impact"]
complementarity_aware_kinds: list = ["none", "each", "together"]
default_angular_acceleration: float = 5.0
default_friction_width: float = 0.01
default_linear_acceleration: float = 2.0
ik_statuses: tuple = ("solved", "out_of_reach", "in_collision", "not_found")
integrators: list = ["semi_implicit"]
joint_kinds: tuple = (
    "fixed",
    "continuous",
    "revolute",
    "prismatic",
    "helical",
    "planar",
    "floating",
)
one_sided_causes: list = [
    "feature",
    "tie",
    "undetermined",
    "unsolved",
    "torn",
    "other_classes",
    "diverged",
    "switches",
]
row_solvers: list = ["lcp", "convex", "pgs"]
work_per_iteration: int = 300
