"""What lies in the folder of a project: its settings, its Python files and their text."""
