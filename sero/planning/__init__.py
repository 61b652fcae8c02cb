"""What a run will ask for, said before it starts: calls, tokens, time and price."""
