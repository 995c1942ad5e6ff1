"""Designs: how often to play each arm."""
