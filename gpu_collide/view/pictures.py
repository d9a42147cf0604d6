"""The pictures (matplotlib), in one module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._options import MOTIONS
from gpu_collide._validate import check_choice
from gpu_collide.recordings.recording import Recording
from gpu_collide.view.event import plot_event
from gpu_collide.view.pair import plot_pair, plot_screen
from gpu_collide.view.space import save
from gpu_collide.view.track import plot_track

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.figure import Figure

    from gpu_collide._types import MotionName
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["plot_contacts", "plot_screen", "plot_track", "save"]


def plot_contacts(
    bodies: Bodies | Recording,
    pair: Any,
    contacts: Any = None,
    *,
    motion: MotionName = "relative",
    up: int | None = None,
) -> Figure:
    """Draw contacts in space: of a pair of bodies, or of an event of a recording.

    Parameters
    ----------
    bodies : gpu_collide.Bodies or gpu_collide.Recording
    pair : sequence of two int, or record
        The bodies A and B; of a recording a row of its encounters, ``found.encounters()[0]``, whose hardest
        contact is drawn, or of its contacts, ``found[0]``.
    contacts : structured ndarray, optional
        The contacts of the pair in this step (``Contacts.of_pair``); found with the defaults of ``collide``
        if left out, beside cylinders and cones with ``contacts="first"``.
    motion : {"relative", "body"}, optional
        How the bodies of the pair move, as in `collide`: that of the result, ``found.info["motion"]``.
    up : int, optional
        Of a recording: the axis that points up; default: the one along which it is flattest.

    Returns
    -------
    matplotlib.figure.Figure
        Of a pair: on the left the step as A sees it, with B at the start, at the first contact and at the
        end, and the paths of its corners; on the right the contacts on A. Of a recording, in the world: on
        the left both bodies at the contact, and where they were and will be; on the right what is nearest,
        with all contacts of the step. Arrows are normals, from A to B.

    Raises
    ------
    ValueError
        If a pose of the pair is invalid, or `motion` is none or not that of the bodies.
    """
    check_choice(motion, "motion", MOTIONS)
    if isinstance(bodies, Recording):
        return plot_event(bodies, pair, contacts, motion=motion, up=up)
    if up is not None:
        raise ValueError("up: expected none for a pair, which is drawn as A sees it; leave it out")
    return plot_pair(bodies, pair, contacts, motion=motion)
