"""Many recordings, on as many processors and GPUs as there are: resumable, and always the same bytes."""

from gpu_collide.batch.run import BatchSummary, collide
from gpu_collide.batch.traffic import events
from gpu_collide.batch.verify import verify

__all__ = ["BatchSummary", "collide", "events", "verify"]
