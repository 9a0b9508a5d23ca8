//! Writes the JavaScript around a WebAssembly module: `NAME.js` for the web,
//! bundlers and edge runtimes, `NAME.cjs` for Node, where a module must load
//! without waiting. Both drive the same `NAME_bg.wasm`.
//!
//! A small program of our own on the library behind `wasm-bindgen`: it compiles
//! in a fraction of the time of the command line tool and writes the same bytes.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1).map(PathBuf::from);
    let (Some(input), Some(out), Some(name)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: filewright-wasm-bindgen MODULE.wasm OUT_DIR NAME".into());
    };
    let name = name.to_string_lossy().into_owned();
    let node = out.join("node");
    let module = format!("{name}_bg.wasm");
    bindgen(&input, &name).web(true)?.generate(&out)?;
    bindgen(&input, &name).nodejs(true)?.typescript(false).generate(&node)?;
    if fs::read(out.join(&module))? != fs::read(node.join(&module))? {
        return Err("the modules for web and for Node differ: they can no longer share a file".into());
    }
    fs::rename(node.join(format!("{name}.js")), out.join(format!("{name}.cjs")))?;
    fs::remove_dir_all(node)?;
    Ok(())
}

fn bindgen(input: &Path, name: &str) -> Bindgen {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name(name).remove_producers_section(true);
    bindgen.reset_state_function(true);
    bindgen
}
