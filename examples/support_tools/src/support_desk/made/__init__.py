"""What is made of the tools; all of it but this file."""
