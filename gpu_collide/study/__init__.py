"""The tradeoff that rasterising brings: resolution against errors and cost, and what the paper says of it."""
