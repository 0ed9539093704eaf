"""The pages of the studio. Each calls the library, and holds no mathematics."""
