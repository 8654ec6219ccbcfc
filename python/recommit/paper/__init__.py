"""The paper's numbers and tables, beside ours."""
