"""Vision-language models that play without any training, through an API: asked safely, resumably, each decision
once."""
