// For bundlers that only copy the module and tell its address: esbuild, in a Worker.
import wasm from "filewright/filewright.wasm";
import { ready } from "filewright/engine";
import { play } from "./play.mjs";

await ready(new URL(wasm, globalThis.location.href));
globalThis.postMessage(await play());
