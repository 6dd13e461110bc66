"""Runs the installed wheel."""

from importlib.resources import files

from stormproof import ResilientClient

assert files("stormproof").joinpath("py.typed").is_file()
print(ResilientClient(name="packed").call(lambda: "wheel: ok"))
