"""Typed functions that a model may call."""
