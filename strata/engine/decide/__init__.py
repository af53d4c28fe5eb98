"""The engine's decisions: pure functions on frozen values."""
