"""Watching a policy beside a fixed depth of its plans: live, on a page or in a terminal, or from recordings."""
