"""Selection of the six joints of a UR arm, and comparison of the arm with the planned one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robosim.errors import ExecutionError
from robosim.execution.universal_robots import UR_JOINTS

__all__ = ["check_model", "ur_order"]


def ur_order(joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return the joints of a UR arm in its controller's order.

    Names may have a common prefix (`tf_prefix`).

    Raises:
        ExecutionError: the names are not the six joints of one UR arm; the message names the
            missing or extra ones.
    """
    pans = [name for name in joint_names if name.endswith(UR_JOINTS[0])]
    if len(pans) != 1:
        found = f"{len(pans)} joints named [tf_prefix]{UR_JOINTS[0]}"
        raise ExecutionError(
            f"RTDE moves the six joints of one UR arm, [tf_prefix]{', '.join(UR_JOINTS)}; among "
            f"{', '.join(joint_names)} there are {found}"
        )
    prefix = pans[0][: -len(UR_JOINTS[0])]
    wanted = tuple(prefix + name for name in UR_JOINTS)
    missing = [name for name in wanted if name not in joint_names]
    extra = [name for name in joint_names if name not in wanted]
    if missing or extra:
        parts = [f"lacks {', '.join(missing)}"] if missing else []
        parts += [f"moves {', '.join(extra)}, which a UR controller does not have"] if extra else []
        raise ExecutionError(f"the plan {' and '.join(parts)}; it has to move {', '.join(wanted)}")
    return wanted


def check_model(planned: str, controller: str, e_series: bool) -> None:
    """Refuse to move an arm of another type than the planned one.

    Args:
        planned: name of the robot in its description; a name without a UR type ("my_cell") is not
            checked.
        controller: name of the arm on the dashboard: "UR5", with or without an "e".
        e_series: True if the controller is newer than CB3. Arms without an "e" that exist only for
            newer controllers (UR16, UR20, ...) are compared by their number.

    Raises:
        ExecutionError: the types differ.
    """
    asked, is_there = _type(planned), _type(controller)
    if asked is None or is_there is None:
        return
    both_exist = asked[0] in {"3", "5", "10"}
    if asked[0] == is_there[0] and (not both_exist or asked[1] == e_series):
        return
    actual = f"UR{is_there[0]}{'e' if e_series and both_exist else ''}"
    raise ExecutionError(
        f"the plan is for {planned!r}, a UR{asked[0]}{'e' if asked[1] else ''}; the controller"
        f" moves a {actual}"
    )


def _type(name: str) -> tuple[str, bool] | None:
    found = re.search(r"(?<![a-z])ur_?(3|5|7|8|10|12|15|16|18|20|30)(e)?(?![0-9a-z])", name.lower())
    return None if found is None else (found[1], found[2] is not None)
