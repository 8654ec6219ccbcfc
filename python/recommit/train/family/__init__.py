"""Many runs from one warm start, and the processes that they compute in."""
