"""Requests to a served model: their bodies, answers, retries, and the key that no file may hold."""
