"""Shared by the benchmarks: problem sets, peers, and the table that compares results with bars."""
