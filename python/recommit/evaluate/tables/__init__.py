"""The paper's tables, one function each."""
