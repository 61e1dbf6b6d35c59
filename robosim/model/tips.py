"""Tip links of a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robosim.model.model import Model

__all__ = ["tip_links"]


def tip_links(model: Model) -> list[str]:
    """Return the links whose paths show the motion.

    These are the tips of all groups except a tool's own group. Without such tips they are the links
    that carry tools, or the last link if there are no tools.
    """
    tools = model.end_effectors.values()
    own = (
        {tool.group for tool in tools if tool.link != model.groups[tool.group].tip}
        if model.groups
        else set()
    )
    tips = [group.tip for group in model.groups.values() if group.tip and group.name not in own]
    return list(dict.fromkeys(tips or [tool.link for tool in tools] or [model.link_names[-1]]))
