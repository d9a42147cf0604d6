"""Launch order of each method's stages."""
