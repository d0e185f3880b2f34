"""A site's database: its tables, its transactions, and moves between databases."""
