"""What is loaded when it is first asked for: the doors of packages, and tables of addresses with entry points."""
