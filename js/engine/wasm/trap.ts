/**
 * Wraps every call into WebAssembly, so that a trap (an abort of the module) does not leave a broken engine
 * behind, and a packed result does not stay in the module's memory.
 *
 * The module is built with `panic=abort`. After a trap its memory is in an unknown state, so its instance is
 * discarded and a new one created. The call that trapped fails; later calls work.
 */
import type { PlatformTables } from "./legacy.ts";
import type { Packed } from "../wire/unpack.ts";

/** The exports of the JavaScript that wasm-bindgen generated, whichever way the module was loaded. */
export interface WasmGlue {
  readonly [name: string]: unknown;
  __wbg_reset_state(): void;
  /** Gives the module the platform's encodings; exists only in the full module. */
  usePlatform?(tables: PlatformTables): void;
}

interface WasmResult extends Packed {
  free(): void;
}

function isWasmResult(value: unknown): value is WasmResult {
  return typeof value === "object" && value !== null && "nums" in value && "free" in value;
}

/**
 * Returns a binding whose functions survive a trap and return plain objects.
 *
 * @param tables the platform's encodings, for a module that needs them
 */
export function guardBinding<Binding>(glue: WasmGlue, tables?: PlatformTables): Binding {
  const prepare = () => {
    if (tables !== undefined) glue.usePlatform?.(tables);
  };
  prepare();
  const binding: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(glue)) {
    // Names of functions begin in lower case. Classes are passed on unchanged: their objects belong to one
    // instance of the module.
    if (typeof member !== "function" || !/^[a-z]/.test(name)) binding[name] = member;
    else binding[name] = guardFunction(member as (...args: unknown[]) => unknown, glue, prepare);
  }
  return binding as Binding;
}

function guardFunction(
  call: (...args: unknown[]) => unknown,
  glue: WasmGlue,
  prepare: () => void,
): (...args: unknown[]) => unknown {
  return (...args) => {
    try {
      const result = call(...args);
      if (!isWasmResult(result)) return result;
      const copy = copyResult(result);
      result.free();
      return copy;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        glue.__wbg_reset_state();
        prepare();
      }
      throw error;
    }
  };
}

/** Returns a plain object with the fields of a result, which itself reads them from the module's memory. */
function copyResult(result: WasmResult): unknown {
  const fields = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(result)));
  const readable = fields.filter(([, { get }]) => get !== undefined);
  return Object.fromEntries(readable.map(([name]) => [name, Reflect.get(result, name)]));
}
