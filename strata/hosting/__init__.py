"""What stands between graphs or tools and the world that calls them."""
