"""Commitment graphs: what one policy would do in every state, where each prefix of it leads, and the value of a rule
there.
"""
