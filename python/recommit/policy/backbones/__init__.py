"""Vision-language models that a policy stands on."""
