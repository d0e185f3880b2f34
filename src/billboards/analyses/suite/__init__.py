"""Several boards, one table: where a metric works and where not."""
