"""The compiled library: calls with torch tensors, and one backend per tensor type."""
