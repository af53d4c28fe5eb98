"""A support desk whose model looks orders up and pays back, with a colleague's yes where it is much."""
