"""Experiments: streams x learners x schemes x labellings x seeds, from one file, run as far as results are missing."""
