"""Commitment graphs: what one policy would do in every state, where each prefix of it leads, and what a rule is worth
there.
"""
