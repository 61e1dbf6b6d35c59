"""`load_robot`: loading of a model from a description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, get_args

from robosim.errors import UrdfError
from robosim.files import read_file
from robosim.model import Model, ModelBuilder
from robosim.urdf.build import InertiaOptions, add_robot, build_model
from robosim.urdf.colliders import ColliderOptions, ConvexMode
from robosim.urdf.description import RobotSpec
from robosim.urdf.joint_limits import LimitOverrides, apply_joint_limits, read_joint_limits
from robosim.urdf.plausibility import always_touching, implausible, mostly_touching
from robosim.urdf.read import read_urdf
from robosim.urdf.self_collision import SelfCollisionReport, filter_self_collision
from robosim.urdf.source import open_source
from robosim.urdf.srdf import Semantics, add_semantics, read_srdf

__all__ = ["LoadOptions", "LoadedRobot", "load_robot", "load_with_report"]

Base = Literal["fixed", "floating", "described"]
_MAX_SRDF_BYTES = 16 * 2**20


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadOptions:
    """Keyword arguments of `load_robot`, documented there."""

    base: Base = "fixed"
    convex: ConvexMode | Mapping[str, ConvexMode] = "hull"
    hull_vertices: int | None = None
    piece_threshold: float = 0.05
    max_pieces: int | None = None
    package_dirs: Sequence[str | PathLike[str]] = ()
    srdf: str | PathLike[str] | Literal[False] | None = None
    joint_limits: str | PathLike[str] | Mapping[str, Any] | Literal[False] | None = None
    inertia_from_meshes: bool = False
    density: float = 1000.0
    visuals: bool = True
    xacro_args: Mapping[str, str] | None = None
    filter_self_collisions: bool = True
    seed: int = 0
    strict: bool = False
    missing_meshes: Literal["refuse", "skip"] = "refuse"
    exact_meshes: bool = True

    def __post_init__(self) -> None:
        if self.base not in get_args(Base):
            raise UrdfError(f"base must be 'fixed', 'floating' or 'described', got {self.base!r}")
        if self.missing_meshes not in ("refuse", "skip"):
            raise UrdfError(
                f"missing_meshes must be 'refuse' or 'skip', got {self.missing_meshes!r}"
            )
        if not 0 < self.density < 1e6:
            raise UrdfError(f"density={self.density!r} must be between 0 and 1e6 kg/m^3")

    @property
    def floating(self) -> bool | None:
        """True if the base is free to move; None if the semantic description decides."""
        return None if self.base == "described" else self.base == "floating"

    @property
    def colliders(self) -> ColliderOptions:
        """Options for the conversion of collision meshes."""
        return ColliderOptions(
            self.convex,
            self.hull_vertices,
            self.piece_threshold,
            self.max_pieces,
            skip_missing=self.missing_meshes == "skip",
            exact=self.exact_meshes,
        )


@dataclass(frozen=True, eq=False)
class LoadedRobot:
    """A model with its sources.

    Attributes:
        model: the result.
        robot: the URDF as read, with limits of joint_limits.yaml applied.
        semantics: the SRDF as read; None without one.
        overrides: the joint_limits.yaml as read; None without one.
        self_collision: report of the sampling filter; None if an SRDF lists the pairs, or if the
            filter is off.
        options: options of the load.
    """

    model: Model
    robot: RobotSpec
    semantics: Semantics | None
    overrides: LimitOverrides | None
    self_collision: SelfCollisionReport | None
    options: LoadOptions


def load_robot(
    source: Any,
    *,
    base: Base = "fixed",
    convex: ConvexMode | Mapping[str, ConvexMode] = "hull",
    hull_vertices: int | None = None,
    piece_threshold: float = 0.05,
    max_pieces: int | None = None,
    package_dirs: Sequence[str | PathLike[str]] = (),
    srdf: str | PathLike[str] | Literal[False] | None = None,
    joint_limits: str | PathLike[str] | Mapping[str, Any] | Literal[False] | None = None,
    inertia_from_meshes: bool = False,
    density: float = 1000.0,
    visuals: bool = True,
    xacro_args: Mapping[str, str] | None = None,
    filter_self_collisions: bool = True,
    seed: int = 0,
    strict: bool = False,
    missing_meshes: Literal["refuse", "skip"] = "refuse",
    exact_meshes: bool = True,
) -> Model:
    """Load a robot from URDF or xacro.

    Meaningful content of the description is read. Content for other programs (gazebo, transmission)
    or without meaning is listed in `Model.ignored`. `Model.warnings` lists what the user should
    review. `Model.dynamics_faults` lists links with invalid inertia. A robot with faults can be
    planned for, but its dynamics raise an error. Links that fixed joints weld together are one body
    for the dynamics; each keeps its name.

    Args:
        source: name of a bundled robot ("ur5"), path of a .urdf or .xacro file, or of a folder that
            contains one (my_robot/my_robot.urdf, or the only one), a URDF string, or a
            `yourdfpy.URDF`.
        base: "fixed" to the world, or "floating": the root link is free to move, and q begins with
            its 7 numbers. "described": floating if the semantic description has a virtual joint of
            this type for the root link, otherwise fixed.
        convex: conversion of collision meshes, for all links or as a mapping by link name (other
            links get the hull). "hull" is the convex hull. "pieces" are convex pieces (needs the
            extra `decomp`). Both are cached on disk. "mesh" keeps the mesh, concave or not, with
            its interior if it is closed. Checks of meshes cost several times as much as checks of
            hulls.
        hull_vertices: largest number of vertices per hull. A reduced hull grows a little to still
            contain the mesh.
        piece_threshold: largest concavity of a piece, 0.01 (fine) to 1.
        max_pieces: largest number of pieces per mesh.
        package_dirs: folders where `package://NAME/...` and xacro's `$(find NAME)` are searched
            first; then ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, and the folders above the file.
        srdf: path or text of MoveIt's semantic description. None takes the .srdf of the same name
            in the same folder, if any. False takes none.
        joint_limits: path of MoveIt's joint_limits.yaml, or its content as a mapping. None takes
            the file in the same folder, if any.
        inertia_from_meshes: compute inertial data from a link's geometry if they are invalid, or if
            a moving body has none.
        density: density for computed inertial data if the mass is missing as well [kg/m^3].
        visuals: True to keep visuals. Without visuals, missing visual meshes do not matter.
        xacro_args: values of a xacro file's arguments.
        filter_self_collisions: exclude pairs of links that always or never touch, by sampling, if
            no SRDF lists pairs.
        seed: seed of the sampling.
        strict: raise an error at the first violation of the URDF specification, instead of a
            warning.
        missing_meshes: "refuse" a robot with a collision mesh that is missing or cannot be read, or
            "skip" the mesh: nothing then collides with it. Visual meshes that are missing cause a
            warning.
        exact_meshes: True if the mesh itself decides where its hull, or its convex pieces, overlap
            something, and determines the distances of separated shapes. Otherwise hulls and pieces
            count as they are, up to their stand-off too large.

    Raises:
        UrdfError: the description is malformed or has no valid meaning; with file and line.
        MeshError: a collision mesh is missing or cannot be read; with file and line.
        SrdfError: the semantic description is invalid; with file and line.
        JointLimitsError: the joint limits are invalid; with file and line.
        FileError: there is no such robot or file.
        MissingDependencyError: an optional package is needed.
    """
    options = LoadOptions(
        base=base, convex=convex, hull_vertices=hull_vertices, piece_threshold=piece_threshold,
        max_pieces=max_pieces,
        package_dirs=package_dirs, srdf=srdf, joint_limits=joint_limits,
        inertia_from_meshes=inertia_from_meshes,
        density=density, visuals=visuals, xacro_args=xacro_args,
        filter_self_collisions=filter_self_collisions,
        seed=seed, strict=strict, missing_meshes=missing_meshes, exact_meshes=exact_meshes,
    )  # fmt: skip
    return load_with_report(source, options).model


def load_with_report(source: Any, options: LoadOptions) -> LoadedRobot:
    """Load a robot as `load_robot` does, and return the model with its sources."""
    opened = open_source(source, package_dirs=options.package_dirs, xacro_args=options.xacro_args)
    robot = read_urdf(
        opened.data, file=opened.file, folder=opened.folder, package_dirs=options.package_dirs,
        default_name=opened.stem, visuals=options.visuals, strict=options.strict,
        skip_missing=options.missing_meshes == "skip",
    )  # fmt: skip

    # Limits first, because they change joints before the builder reads them.
    limits = opened.joint_limits if options.joint_limits is None else options.joint_limits
    overrides = None if limits is None or limits is False else read_joint_limits(limits)
    if overrides is not None:
        robot = replace(robot, joints=apply_joint_limits(robot, overrides))

    semantics = None
    srdf = opened.srdf if options.srdf is None else options.srdf
    if srdf is not None and srdf is not False:
        data, file = _srdf_text(srdf)
        semantics = read_srdf(
            data, robot, file=file, floating_base=options.floating, strict=options.strict
        )

    floating = bool(options.floating) if semantics is None else semantics.floating_base
    builder = ModelBuilder(robot.name, floating_base=floating)
    for text in robot.warnings:
        builder.add_warning(text)
    for text in (*robot.ignored, *(overrides.ignored if overrides else ())):
        builder.add_ignored(text)
    inertia = InertiaOptions(options.inertia_from_meshes, options.density)
    add_robot(
        builder, robot, options.colliders, inertia, floating_base=floating, strict=options.strict
    )
    if semantics is not None:
        add_semantics(builder, semantics)
    lists_pairs = semantics is not None and semantics.lists_pairs
    model = build_model(builder, robot, filter_adjacent=not lists_pairs, strict=options.strict)
    if overrides is not None:
        model = _name_acceleration_source(model, overrides)
    report = None
    doubts = implausible(model, robot, semantics)
    if options.filter_self_collisions and not lists_pairs:
        model, report = filter_self_collision(model, seed=options.seed)
        doubts += always_touching(robot, report) + mostly_touching(robot, report)
    if doubts:
        model = model.with_warnings(doubts)
    return LoadedRobot(model, robot, semantics, overrides, report, options)


def _srdf_text(srdf: str | PathLike[str]) -> tuple[bytes | str, str]:
    if isinstance(srdf, str) and srdf.lstrip("\ufeff \t\r\n").startswith("<"):
        return srdf, "<srdf string>"
    return read_file(srdf, max_bytes=_MAX_SRDF_BYTES), str(srdf)


def _name_acceleration_source(model: Model, overrides: LimitOverrides) -> Model:
    """Record the file of the acceleration limits as their source in the model."""
    given = {
        joint: values[0]
        for joint, limits in overrides.by_joint.items()
        if joint in model.joint_names and (values := limits.get("acceleration")) is not None
    }
    return model.with_acceleration_limits(given, overrides.source) if given else model
