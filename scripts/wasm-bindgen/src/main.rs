//! Writes the JavaScript around the WebAssembly module: `filewright.js` for the
//! web, bundlers and edge runtimes, `filewright.cjs` for Node, where a module
//! must load without waiting. Both drive the same `filewright_bg.wasm`.
//!
//! A small program of our own on the library behind `wasm-bindgen`: it compiles
//! in a fraction of the time of the command line tool and writes the same bytes.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1).map(PathBuf::from);
    let (Some(input), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: filewright-wasm-bindgen MODULE.wasm OUT_DIR".into());
    };
    let node = out.join("node");
    bindgen(&input).web(true)?.generate(&out)?;
    bindgen(&input).nodejs(true)?.typescript(false).generate(&node)?;
    if fs::read(out.join("filewright_bg.wasm"))? != fs::read(node.join("filewright_bg.wasm"))? {
        return Err("the modules for web and for Node differ: they can no longer share a file".into());
    }
    fs::rename(node.join("filewright.js"), out.join("filewright.cjs"))?;
    fs::remove_dir_all(node)?;
    Ok(())
}

fn bindgen(input: &Path) -> Bindgen {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("filewright").remove_producers_section(true);
    bindgen.reset_state_function(true);
    bindgen
}
