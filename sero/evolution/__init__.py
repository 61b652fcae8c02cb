"""Training: one proposed edit of the role pool per task, under contracts and a gate."""
