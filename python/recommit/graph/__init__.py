"""Commitment graphs: a policy's plan in every state, where each prefix of it leads, and exact values of depth rules."""
