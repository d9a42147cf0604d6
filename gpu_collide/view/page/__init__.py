"""Pages for a browser: one file with bodies that move and contacts in a list, made of a result."""

from gpu_collide.view.page.write import page

__all__ = ["page"]
