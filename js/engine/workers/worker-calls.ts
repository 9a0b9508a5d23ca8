/**
 * How functions of the engine are called in a worker: the worker's side, which answers messages, and the
 * caller's side, a binding. Both are in this file, so that they agree.
 */
import { messageOf } from "../thrown.ts";
import { EMPTY_BYTES } from "../wire/bytes.ts";
import type { Binding } from "../engine.ts";
import type { WorkerPool, WorkerMessage } from "./pool.ts";
import { MIN_WORKER_SEARCH_BYTES } from "../search.ts";
import type { Packed } from "../wire/unpack.ts";
import { nextTurn } from "../yielder.ts";

/**
 * The size in bytes below which edits run on the calling thread. It is smaller than for other calls, because
 * the time that edits take depends on more than their size.
 */
const MAX_IN_PLACE_EDIT_BYTES = 4 * 1024;
/**
 * The size in bytes from which the input of a call is copied for the worker in a turn of the event loop of its own: a
 * megabyte takes up to a millisecond.
 */
const MIN_OWN_TURN_BYTES = 1024 * 1024;

type DiffAsync = NonNullable<Binding["diffAsync"]>;
type CallsByName = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Returns the functions that a worker can run, by name. */
function workerCallsOf(binding: Binding): CallsByName {
  let query: { readonly options: string; readonly raw: InstanceType<Binding["SearchQuery"]> } | undefined;
  const search = (options: string, content: Uint8Array, limits: string): Packed => {
    if (query?.options !== options) query = { options, raw: new binding.SearchQuery(options) };
    const found: Packed & { free?(): void } = query.raw.search(content, limits);
    const { nums, text } = found;
    found.free?.();
    return { nums, text };
  };
  return {
    diff(before: Uint8Array, after: Uint8Array, ...rest: WithoutFirstTwo<Parameters<DiffAsync>>): Packed {
      const totals = new Uint32Array(3);
      const [flags, context, oldName, newName, line, bytes] = rest;
      const text = binding.diff(before, after, totals, flags, context, oldName, newName, line, bytes);
      return { nums: Float64Array.of(...totals, text.length), text };
    },
    planEdits: binding.planEdits,
    applyPatch(...args: Parameters<Binding["applyPatch"]>) {
      // A message can carry only plain data, so the fields are copied from the engine's object.
      const { facts, contents } = binding.applyPatch(...args);
      return { facts, contents };
    },
    inspect: binding.inspect,
    readPage: binding.readPage,
    lineHashes: binding.lineHashes,
    outline: binding.outline,
    parsePatch: binding.parsePatch,
    merge3: binding.merge3,
    composeHunks: binding.composeHunks,
    decodeBytes: binding.decodeBytes,
    encodeText: binding.encodeText,
    sha256: binding.sha256,
    search,
    searchAll(options: string, contents: readonly Uint8Array[], limits: string): readonly Packed[] {
      // The query is compiled even without contents: such a call only checks that it is valid.
      search(options, EMPTY_BYTES, "{}");
      return contents.map((content) => search(options, content, limits));
    },
  };
}

type WithoutFirstTwo<T extends readonly unknown[]> = T extends [unknown, unknown, ...infer Rest]
  ? Rest
  : never;

/** Returns a function that runs the call which a message requests, and returns the answer for the caller. */
export function makeCallAnswerer(binding: Binding): (message: unknown) => WorkerMessage {
  const calls = workerCallsOf(binding);
  return (message) => {
    const { id, call, args } = message as { id: number; call: string; args: never[] };
    try {
      return { id, value: calls[call]?.(...args) };
    } catch (error) {
      return { id, error: messageOf(error) };
    }
  };
}

/**
 * Returns a binding whose asynchronous calls run in workers when their input is large, and in place when it
 * is small.
 */
export function withWorkerPool(binding: Binding, pool: Pick<WorkerPool, "run">): Binding {
  const here = workerCallsOf(binding);
  const run = async <T>(
    size: number,
    name: string,
    args: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<T> => {
    const inPlace = () => here[name]?.(...(args as never[])) as T;
    if (size >= MIN_OWN_TURN_BYTES) await new Promise<void>(nextTurn);
    if (size >= (name === "planEdits" ? MAX_IN_PLACE_EDIT_BYTES : MIN_WORKER_SEARCH_BYTES))
      return pool.run(name, args, inPlace, { signal });
    return Promise.resolve().then(inPlace);
  };
  return {
    ...binding,
    diffAsync: (...args) => {
      const [before, after] = args;
      const signal = args[8];
      return run(before.length + after.length, "diff", args.slice(0, 8), signal);
    },
    planEditsAsync: (text, call, signal) => run(text.length + call.length, "planEdits", [text, call], signal),
    applyPatchAsync(...args) {
      const [names, contents, text, call, signal] = args;
      const size = contents.reduce((sum, content) => sum + (content?.length ?? 0), text.length);
      return run(size, "applyPatch", [names, contents, text, call], signal);
    },
    parsePatchAsync: (text, call, signal) => run(text.length, "parsePatch", [text, call], signal),
    merge3Async: (...args) => {
      const [base, ours, theirs, flags, labels, signal] = args;
      const size = base.length + ours.length + theirs.length;
      return run(size, "merge3", [base, ours, theirs, flags, labels], signal);
    },
    composeHunksAsync: (...args) => {
      const [before, after, encoding, chosen, signal] = args;
      return run(before.length + after.length, "composeHunks", [before, after, encoding, chosen], signal);
    },
    decodeBytesAsync: (bytes, label, signal) => run(bytes.length, "decodeBytes", [bytes, label], signal),
    encodeTextAsync: (text, label, bom, signal) => run(text.length, "encodeText", [text, label, bom], signal),
    sha256Async: (bytes, signal) => run(bytes.length, "sha256", [bytes], signal),
    inspectAsync: (bytes, name, complete, signal) =>
      run(bytes.length, "inspect", [bytes, name, complete], signal),
    readPageAsync: (bytes, name, request, signal) =>
      run(bytes.length, "readPage", [bytes, name, request], signal),
    lineHashesAsync: (bytes, signal) => run(bytes.length, "lineHashes", [bytes], signal),
    outlineAsync: (text, name, signal) => run(text.length, "outline", [text, name], signal),
    searchAllAsync: (options, contents, limits, signal) =>
      pool.run(
        "searchAll",
        [options, contents, limits],
        () => here["searchAll"]?.(...([options, contents, limits] as never[])) as readonly Packed[],
        { signal },
      ),
    searchAsync: (options, content, limits, signal) =>
      run(content.length, "search", [options, content, limits], signal),
  };
}
