"""Batch normalization: autograd classes, operator, phases, and the form across processes."""
