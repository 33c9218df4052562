"""Display answers: build documents from them, and render documents as text, HTML, LaTeX, JSON, or on a terminal."""
