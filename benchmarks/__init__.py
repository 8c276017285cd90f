"""What is measured; `make bench` runs it all. Figures are CPU time, the best of several, compared within one run."""
