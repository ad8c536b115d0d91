"""The guide's sentences about generated code, as data: each is checked on kernels of our own with a given compiler.

``claim`` says what one is; the other modules hold the claims by topic, ``check`` runs them all.
"""
