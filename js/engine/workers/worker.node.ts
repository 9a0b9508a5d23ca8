/**
 * The script of a worker thread on Node: loads the WebAssembly engine and answers calls. A call whose name is that of
 * a built file is answered by the function `answerInWorker` of the file, so that other folders can have work of their
 * own done in the workers.
 */
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";
import { setEngine } from "../current.ts";
import { type Binding, makeEngine } from "../engine.ts";
import { messageOf } from "../thrown.ts";
import { FilewrightError } from "../errors.ts";
import { builtFilePath, loadWasm } from "../load.node.ts";
import type { WorkerMessage } from "./pool.ts";
import { makeCallAnswerer } from "./worker-calls.ts";

/** The exports of a built file whose name is that of a call. */
interface WorkerModule {
  answerInWorker(binding: Binding, ...args: unknown[]): unknown;
}

const loadedWasm = loadWasm();
if ("reason" in loadedWasm) throw new Error(loadedWasm.reason);
const { binding } = loadedWasm;
setEngine(makeEngine(binding, { kind: "wasm", reason: "this is a worker" }));
const answerCall = makeCallAnswerer(binding);
const modules = new Map<string, Promise<WorkerModule>>();

/** Returns an error as the message from which `fromEngine` makes it again on the calling thread. */
function toEngineMessage(error: unknown): string {
  if (!(error instanceof FilewrightError)) return messageOf(error);
  const { code, message, hint, details, complete } = error;
  return JSON.stringify({ code, message, hint, details, complete });
}

async function answerByModule(id: number, file: string, args: unknown[]): Promise<WorkerMessage> {
  try {
    let loaded = modules.get(file);
    if (loaded === undefined) {
      loaded = import(pathToFileURL(builtFilePath(file)).href) as Promise<WorkerModule>;
      modules.set(file, loaded);
    }
    return { id, value: await (await loaded).answerInWorker(binding, ...args) };
  } catch (error) {
    return { id, error: toEngineMessage(error) };
  }
}

parentPort?.on("message", (message: { id: number; call: string; args: unknown[] }) => {
  const answer = (said: WorkerMessage) => parentPort?.postMessage(said);
  if (message.call.endsWith(".js")) void answerByModule(message.id, message.call, message.args).then(answer);
  else answer(answerCall(message));
});
parentPort?.postMessage({ ready: true });
