"""What a pool is: typed role cards in an ordered, immutable pool."""
