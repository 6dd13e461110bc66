"""Runs the installed wheel."""

from stormproof import ResilientClient

print(ResilientClient(name="packed").call(lambda: "wheel: ok"))
