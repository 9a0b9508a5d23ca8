#!/bin/sh
# What cargo starts instead of rustc for our own crates: the core's tests are built
# with counters, and everything else as it always is.
case " $* " in
  *" --crate-name filewright_core "*" --test "*) exec "$@" -C instrument-coverage ;;
esac
exec "$@"
