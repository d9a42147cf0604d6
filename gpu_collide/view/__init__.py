"""Visualization of results: pictures of a pair, of its screen and of recordings, pages for a browser, and
files that hold everything these show.

Pictures need matplotlib, which is imported when it is used, with the remedy if it is not installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._calls import old_names
from gpu_collide.errors import MissingExtraError
from gpu_collide.view.page.write import page
from gpu_collide.view.result_file import load_result, save_result

if TYPE_CHECKING:
    from typing import Any

__all__ = ["load_result", "page", "plot_contacts", "plot_screen", "plot_track", "save", "save_result"]

_old = old_names(__name__, {"keep": save_result, "kept": load_result})


def __getattr__(name: str) -> Any:
    if name not in __all__:
        return _old(name)
    try:
        from gpu_collide.view import pictures
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("matplotlib", "mpl_toolkits"):
            raise
        raise MissingExtraError("drawing pictures", "matplotlib", "view") from error
    return getattr(pictures, name)


def __dir__() -> list[str]:
    return __all__
