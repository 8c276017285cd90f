"""How numbers, names and colours are written for people. Private."""
