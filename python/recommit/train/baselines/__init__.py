"""What others do: heads by the advantage estimators, critics and verifiers of the literature, on the same frozen plans
as ours. Each file names its source, and says what in it is ours.
"""
