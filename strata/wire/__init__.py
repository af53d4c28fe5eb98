"""Bytes in and out: how checkpoints, listings and definitions stand in a store."""
