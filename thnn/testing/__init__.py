"""Cases, checks and benchmarks of functions: the package's and custom ones."""
