"""Schemas and dispatch of tools, made from their source without importing it."""
