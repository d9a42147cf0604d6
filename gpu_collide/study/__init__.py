"""The tradeoff of rasterisation: resolution against errors and cost, and the paper's numbers beside it."""
