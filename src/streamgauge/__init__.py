"""streamgauge tells how good a data-stream classifier is, and whether one is really better than another."""
