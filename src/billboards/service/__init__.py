"""What happens on a board: the verbs that command line, Python and the site share."""
