"""Fault harnesses: a recorded disk and its power-loss images, failing calls, kills, oracles.

``recording`` logs what a workload does to its files, ``disk`` replays the log into what a power
loss may leave, ``survey`` opens each of these images and asks an oracle; ``faulty`` makes calls
fail, ``killing`` ends a child at its n-th step; ``workloads`` are what runs under all of them.
"""
