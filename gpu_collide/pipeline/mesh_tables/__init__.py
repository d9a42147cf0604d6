"""What kernels read of each mesh, and how it lies in memory."""
