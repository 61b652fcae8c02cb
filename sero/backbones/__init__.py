"""The frozen model, behind one protocol."""
