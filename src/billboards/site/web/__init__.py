"""The site's pages and its HTTP interface."""
