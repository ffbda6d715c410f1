"""Derivatives of the functions as operations of torch: formulas, and the rule of each module."""
