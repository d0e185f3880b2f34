"""A site: boards with accounts, submissions and the work they make."""
