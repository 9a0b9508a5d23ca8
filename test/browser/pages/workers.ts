/** The page of the engine's workers: what runs on it, and what in them. */
import { applyPatchAsync, planEditsBytesAsync, readPageAsync } from "../../../js/engine/functions.ts";
import { diffAsync, engine, FilewrightError, grepText, grepTextAsync } from "../../../js/engine/index.ts";
import { useWorkers } from "../../../js/engine/workers/workers.ts";
import { MemoryBackend, openWorkspace } from "../../../js/index.ts";

/** The module's functions that were called on the page's own thread, in their order. */
const called: string[] = [];
const { instantiate } = WebAssembly;
Object.assign(WebAssembly, {
  async instantiate(module: WebAssembly.Module, imports: WebAssembly.Imports) {
    const { exports } = await instantiate(module, imports);
    const noted = Object.entries(exports).map(([name, member]) => {
      if (typeof member !== "function") return [name, member];
      const note = (...args: readonly unknown[]): unknown => {
        called.push(name);
        return member(...args);
      };
      return [name, note];
    });
    return { instance: { exports: Object.fromEntries(noted) }, module };
  },
});

const wasm = new URL("filewright_bg.wasm", location.href);
const script = (name: string) => () => new Worker(name, { type: "module" });

const code = (error: unknown) => (error instanceof FilewrightError ? error.code : String(error));

const lab = {
  useWorkers: (name: string, size = 2) => useWorkers({ worker: script(name), wasm, size }),
  /** Returns the functions of the module that ran on the page itself during `work`. */
  async onPage(work: () => unknown): Promise<readonly string[]> {
    called.length = 0;
    await work();
    return called.filter((name) =>
      /^(diff|planEdits|applyPatch|readPage|searchquery_(new|search))$/.test(name),
    );
  },
  code,
  applyPatchAsync,
  readPageAsync,
  diffAsync,
  engine,
  grepText,
  grepTextAsync,
  planEditsBytesAsync,
  MemoryBackend,
  openWorkspace,
  /** Lines that take long to search, compare and edit. */
  text: (lines: number, salt = 0) =>
    new TextEncoder().encode(
      Array.from(
        { length: lines },
        (_, i) => `some line ${(i * 7919 + salt) % 10_007} of text with (words)\n`,
      ).join(""),
    ),
};

/** The functions of the page that tests call. */
export type WorkersLab = typeof lab;
Object.assign(globalThis, { lab });
