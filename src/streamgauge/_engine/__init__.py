"""How a run is carried out. Private: use `streamgauge.evaluate` and `streamgauge.Evaluation`."""
