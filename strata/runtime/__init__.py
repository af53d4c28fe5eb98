"""Runs graphs over stores: the one room that knows both."""
