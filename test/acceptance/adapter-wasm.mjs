// The kit on the entry for browsers, in Node: the WebAssembly engine and nothing of Node's.
import { readFileSync } from "node:fs";
import { createWith } from "./create.mjs";

const { ready } = await import("../../dist/engine/index.js");
await ready(readFileSync(new URL("../../dist/wasm/filewright_bg.wasm", import.meta.url)));

export const create = createWith(await import("../../dist/index.js"));
