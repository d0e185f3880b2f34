"""People's single ratings, on a board or in any table with one rating per row."""
