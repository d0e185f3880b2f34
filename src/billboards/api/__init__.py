"""Boards and suites from Python and notebooks: the same verbs as on the command line, with results that print.

    import billboards as bb
    board = bb.open("my-board")
    bb.score(board)
    bb.rank(board)

A module for each kind of question; `billboards` names all verbs, and loads a verb's module when it is first used.
"""
