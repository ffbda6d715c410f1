"""The autograd classes: their base, their generation from the header, and those written by hand."""
