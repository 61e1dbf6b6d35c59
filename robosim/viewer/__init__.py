"""See robots, scenes and motions: live in a browser, as one HTML file, or as a PNG picture."""

from robosim.viewer.html import export_html
from robosim.viewer.picture import picture, render_png
from robosim.viewer.server import Viewer, show

__all__ = ["Viewer", "export_html", "picture", "render_png", "show"]
