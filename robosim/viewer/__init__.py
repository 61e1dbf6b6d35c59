"""Views of robots, scenes and motions: browser, HTML file, PNG picture, or GIF or MP4 film."""

from robosim.viewer.film import render_film
from robosim.viewer.html import export_html
from robosim.viewer.picture import picture, render_png
from robosim.viewer.save import save
from robosim.viewer.server import Viewer, show

__all__ = ["Viewer", "export_html", "picture", "render_film", "render_png", "save", "show"]
