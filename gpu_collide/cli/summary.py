"""The summary of a batch of contacts, as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.results.enums import CONTACT_KINDS

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal
    from gpu_collide.results.contacts import Contacts

STATUS_WORDS = {"INITIAL_OVERLAP": "in each other at the start"}
KIND_WORDS = {
    "FV": "face of A, vertex of B", "VF": "vertex of A, face of B", "EE": "edge of A, edge of B",
    "EV": "edge of A, vertex of B", "VE": "vertex of A, edge of B", "VV": "vertex of A, vertex of B",
}  # fmt: skip


def print_summary(terminal: Terminal, contacts: Contacts, seconds: float | None = None) -> None:
    """Print what was found, how long it took, and where the time went.

    Parameters
    ----------
    terminal : Terminal
    contacts : gpu_collide.Contacts
        As returned by ``collide``; brought to NumPy here.
    seconds : float, optional
        Wall time of the whole call.
    """
    contacts = contacts.to_numpy()
    terminal.table("What was found", ["", "count", "share"], found_rows(contacts))
    if seconds is not None:
        terminal.table("How fast", ["", ""], speed_rows(contacts, seconds))


def found_rows(contacts: Contacts) -> list[Any]:
    """Rows (what, count, share) for pairs by status and contacts by kind.

    Parameters
    ----------
    contacts : gpu_collide.Contacts
        With NumPy arrays.

    Returns
    -------
    list of (str, str, str)
    """
    import gpu_collide as gc

    n_pairs, n_contacts = len(contacts.status), len(contacts.pair)
    rows = [("pairs", f"{n_pairs:,}", "")]
    for status in gc.Status:
        count = int(np.count_nonzero(contacts.status == status))
        if count or status in (gc.Status.HIT, gc.Status.MISS):
            rows.append((f"  {status_text(status)}", f"{count:,}", _share(count, n_pairs)))
    rows.append(("contacts", f"{n_contacts:,}", ""))
    for kind in gc.Kind:
        count = int(np.count_nonzero(contacts.kind == kind))
        if kind not in CONTACT_KINDS and not count:  # where bodies touch there are none of these
            continue
        rows.append((f"  {kind.name}: {KIND_WORDS[kind.name]}", f"{count:,}", _share(count, n_contacts)))
    sustained = int(np.count_nonzero(contacts.sustained))
    if sustained:
        rows.append(("  sustained (sliding or resting)", f"{sustained:,}", _share(sustained, n_contacts)))
    if n_contacts:
        most = int(np.diff(contacts.contact_start).max())
        rows.append(("most contacts of one pair", f"{most:,}", ""))
        toi = contacts.toi[np.isfinite(contacts.toi)]
        rows.append(("earliest time of contact", f"{toi.min():.6f}", ""))
        rows.append(("median first time", f"{np.median(toi):.6f}", ""))
    return rows


def status_text(status: Any) -> str:
    """Name of a status, and what it means if that is not plain."""
    words = STATUS_WORDS.get(status.name)
    return f"{status.name}: {words}" if words else status.name


def speed_rows(contacts: Contacts, seconds: float) -> list[Any]:
    """Rows (what, value) for the speed of a call and its stages.

    Parameters
    ----------
    contacts : gpu_collide.Contacts
    seconds : float
        Wall time of the whole call.

    Returns
    -------
    list of (str, str)
    """
    info, n_pairs = contacts.info, len(contacts.status)
    rows = [("backend", f"{info.get('backend', '?')} ({info.get('device', '?')})")]
    for key in ("precision", "refine", "candidates"):
        if key in info:
            rows.append((key, str(info[key])))
    rows.append(("wall time", f"{seconds:.3f} s"))
    if n_pairs and seconds > 0:
        rows.append(("pairs per second", f"{n_pairs / seconds:,.0f}"))
    rows.extend((f"  {stage}", f"{value:.3f} s") for stage, value in (info.get("timings") or {}).items())
    return rows


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else ""
