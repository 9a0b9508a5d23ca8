//! Tells cargo how Node addons are linked.

fn main() {
    napi_build::setup();
}
