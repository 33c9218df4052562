"""What an answer contains, and how it is shown, exported and asked further questions."""
