"""Scenes: obstacles, held objects, allowed contacts, starts and goals; files and generators."""

from robosim.scene.bundled import bundled_scenes, load_scene
from robosim.scene.clouds import CleanCloud, clean_cloud
from robosim.scene.derivatives import ContactDerivatives, contact_derivatives
from robosim.scene.families import families, generate
from robosim.scene.moveit import MotionRequest, read_moveit_request, read_moveit_scene
from robosim.scene.objects import MeshSource, PointCloud, SceneObject
from robosim.scene.rays import SceneRayHits, ray_cast
from robosim.scene.scene import Attachment, Scene
from robosim.scene.targets import Configuration, LinkPose
from robosim.scene.terrain import Terrain

__all__ = [
    "Attachment",
    "CleanCloud",
    "Configuration",
    "ContactDerivatives",
    "LinkPose",
    "MeshSource",
    "MotionRequest",
    "PointCloud",
    "Scene",
    "SceneObject",
    "SceneRayHits",
    "Terrain",
    "bundled_scenes",
    "clean_cloud",
    "contact_derivatives",
    "families",
    "generate",
    "load_scene",
    "ray_cast",
    "read_moveit_request",
    "read_moveit_scene",
]
