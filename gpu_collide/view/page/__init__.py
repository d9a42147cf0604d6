"""Pages for a browser: one file with moving bodies and a list of contacts, made from a result."""

from gpu_collide.view.page.write import page

__all__ = ["page"]
