"""The interfaces of other tools, so that code written for them runs here."""
