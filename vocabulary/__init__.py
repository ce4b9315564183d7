"""The vocabulary's data files; this docstring makes the folder the package `failure_kinds.vocabulary`."""
