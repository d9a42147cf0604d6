"""`verify`: whether a folder has all that its marks say, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_collide.batch import files

if TYPE_CHECKING:
    from gpu_collide._types import StrPath

__all__ = ["verify"]


def verify(out: StrPath) -> list[str]:
    """What is wrong with the results of a run: every file is read, and its digest compared.

    Parameters
    ----------
    out : path
        Folder of the run.

    Returns
    -------
    list of str
        A line each: items that are not done, files that are damaged or nobody's. Empty: all is whole.

    Raises
    ------
    FileNotFoundError
        There is no run in that folder.
    ValueError
        Its plan cannot be read.
    """
    folder = Path(os.fspath(out))
    if not (folder / files.PLAN).exists():
        raise FileNotFoundError(f"out: there is no run in {str(folder)!r}")
    try:
        items = len(json.loads((folder / files.PLAN).read_bytes())["items"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"out: plan.json of the run in {str(folder)!r} is damaged ({error})") from error
    marks = files.done(folder)
    wrong = [f"item {k} is not done" for k in range(items) if k not in marks]
    known = {files.PLAN}
    for k, mark in marks.items():
        known.add(files.part(files.DONE, k))
        for table, said in mark["tables"].items():
            name = files.part(table, k)
            known.add(name)
            if files.sha256((folder / name).read_bytes()) != said["sha256"]:
                wrong.append(f"{name} is not what was written")
    wrong += [f"{name} is nobody's" for name in files.there(folder) if name not in known]
    return wrong
