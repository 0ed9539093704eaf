"""Faces: models that draw them, and noise in their latent spaces."""
