/** The script of a worker thread on Node: loads the WebAssembly engine and answers calls. */
import { parentPort } from "node:worker_threads";
import { loadWasm } from "../load.node.ts";
import { answering } from "./worker-calls.ts";

const wasm = loadWasm();
if ("reason" in wasm) throw new Error(wasm.reason);
const answer = answering(wasm.binding);
parentPort?.on("message", (call: unknown) => parentPort?.postMessage(answer(call)));
parentPort?.postMessage({ ready: true });
