"""Shared by the benchmarks: problem sets, peers and the table that judges them."""
