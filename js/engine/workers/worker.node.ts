/** The script of a worker thread on Node: loads the WebAssembly engine and answers calls. */
import { parentPort } from "node:worker_threads";
import { loadWasm } from "../load.node.ts";
import { makeCallAnswerer } from "./worker-calls.ts";

const loadedWasm = loadWasm();
if ("reason" in loadedWasm) throw new Error(loadedWasm.reason);
const answerCall = makeCallAnswerer(loadedWasm.binding);
parentPort?.on("message", (call: unknown) => parentPort?.postMessage(answerCall(call)));
parentPort?.postMessage({ ready: true });
