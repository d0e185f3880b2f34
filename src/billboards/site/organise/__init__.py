"""What organisers do in the browser: make boards, decide about them, look at them as others do, read what happened."""
