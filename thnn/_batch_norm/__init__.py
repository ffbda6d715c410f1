"""Batch normalization: autograd classes, operator, stages, and the form across processes."""
