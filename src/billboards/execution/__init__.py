"""Where metrics run."""
