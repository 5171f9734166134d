"""What the store should be: a model in dictionaries that knows the rules and no SQL."""
