//! Sets the linker options for Node addons.

fn main() {
    napi_build::setup();
}
