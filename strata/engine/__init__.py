"""Runs graphs: pure decisions on frozen values, and one async loop that acts on them."""
