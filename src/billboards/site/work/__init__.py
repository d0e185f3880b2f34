"""What a site computes: the cells that are missing, and the workers that compute them."""
