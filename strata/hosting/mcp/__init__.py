"""Tools and graphs served to models over the Model Context Protocol; needs the extra `mcp`."""
