"""The measuring side: worker processes, sessions, sampling. Import the submodules; this package is empty on purpose."""
