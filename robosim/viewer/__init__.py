"""See robots, scenes and motions: live in a browser, as one HTML file, as a PNG picture, or as a
film, GIF or MP4."""

from robosim.viewer.film import render_film
from robosim.viewer.html import export_html
from robosim.viewer.picture import picture, render_png
from robosim.viewer.save import save
from robosim.viewer.server import Viewer, show

__all__ = ["Viewer", "export_html", "picture", "render_film", "render_png", "save", "show"]
