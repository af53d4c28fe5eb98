"""The frozen values between two steps, and pure functions on them."""
