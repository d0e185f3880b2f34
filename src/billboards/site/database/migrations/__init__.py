"""The history of the site's tables, one module per step."""
