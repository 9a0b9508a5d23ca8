/**
 * Both engines side by side. Where the WebAssembly module has not been built the
 * parity tests are skipped by name; `npm test` builds it first.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { describe } from "vitest";
import { type Engine, makeEngine } from "../../js/engine/engine.ts";
import { loadNative, loadWasm } from "../../js/engine/load.node.ts";
import { makeTextEngine, type TextBinding, type TextEngine } from "../../js/engine/text/text-engine.ts";
import { type WasmGlue, guardBinding } from "../../js/engine/wasm/trap.ts";

const native = loadNative();
const wasm = loadWasm();
const small = loadSmall();

/** Both engines and the small module, or undefined where one cannot be loaded. */
export const engines:
  | { readonly native: Engine; readonly wasm: Engine; readonly small: TextEngine }
  | undefined =
  "binding" in native && "binding" in wasm && small !== undefined
    ? {
        native: makeEngine(native.binding, { kind: "native" }),
        wasm: makeEngine(wasm.binding, { kind: "wasm" }),
        small: makeTextEngine(small, { kind: "wasm" }),
      }
    : undefined;

function loadSmall(): TextBinding | undefined {
  const file = resolve(import.meta.dirname, "../../dist/wasm/filewright_edit.cjs");
  return existsSync(file) ? guardBinding<TextBinding>(createRequire(file)(file) as WasmGlue) : undefined;
}

const skip =
  process.env["FILEWRIGHT_PARITY"] === "skip" || (engines === undefined && process.env["CI"] !== "true");

/** A suite that needs both engines. CI must have them: there it fails instead of being skipped. */
export const describeParity: typeof describe | typeof describe.skip = skip ? describe.skip : describe;

/** Returns the result or the error of a call, as plain data that can be compared. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return { value: plain(await call()) };
  } catch (error) {
    return { thrown: plain(error) };
  }
}

/** Errors compare by what they say; functions are no part of an answer. */
function plain(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, code, message, hint, details } = value as Error & Record<string, unknown>;
    return { name, code, message, hint, details };
  }
  if (Array.isArray(value)) return value.map(plain);
  // Bytes are bytes, whether Node made a Buffer of them or not.
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => typeof member !== "function");
  return Object.fromEntries(entries.map(([name, member]) => [name, plain(member)]));
}

/** Makes the same call on both engines and hands back both outcomes. */
export async function both(call: (engine: Engine) => unknown): Promise<{ native: unknown; wasm: unknown }> {
  if (!engines) throw new Error("the WebAssembly module or the addon is not built: npm run build:wasm");
  const { native, wasm } = engines;
  return { native: await outcome(() => call(native)), wasm: await outcome(() => call(wasm)) };
}

/** The same for what the small module has too. */
export async function all(
  call: (engine: TextEngine) => unknown,
): Promise<{ native: unknown; wasm: unknown; small: unknown }> {
  const outcomes = await both(call);
  return { ...outcomes, small: await outcome(() => call((engines as { small: TextEngine }).small)) };
}
