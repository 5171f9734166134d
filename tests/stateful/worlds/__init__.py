"""Two worlds that differ only in what a caller may not see, and the requests that compare them."""
