"""stormproof for Python."""
