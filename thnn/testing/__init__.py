"""Cases, checks and benchmarks of functions: for those of the package and for your own."""
