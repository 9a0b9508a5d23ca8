/**
 * Wraps every call into WebAssembly: a trap must not leave a broken engine behind, and a packed
 * result must not stay in the module's memory.
 *
 * The module is built with `panic=abort`. After a trap its memory is in an unknown state, so the
 * instance is discarded and created again; the call that trapped fails, the next one works.
 */
import type { PlatformTables } from "./legacy.ts";
import type { Packed } from "../wire/unpack.ts";

/** The exports of the generated JavaScript, however it was loaded. */
export interface Glue {
  readonly [name: string]: unknown;
  __wbg_reset_state(): void;
  /** Only the full module has it. */
  usePlatform?(tables: PlatformTables): void;
}

interface WasmResult extends Packed {
  free(): void;
}

function isHeld(value: unknown): value is WasmResult {
  return typeof value === "object" && value !== null && "nums" in value && "free" in value;
}

/**
 * Wraps the binding of the generated JavaScript, so that it is safe to call.
 *
 * @param tables the platform's encodings, for a module that needs them
 */
export function guarded<Binding>(glue: Glue, tables?: PlatformTables): Binding {
  const prepare = () => {
    if (tables !== undefined) glue.usePlatform?.(tables);
  };
  prepare();
  const binding: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(glue)) {
    // Functions are lower case; classes have state of their own and pass unchanged.
    if (typeof member !== "function" || !/^[a-z]/.test(name)) binding[name] = member;
    else binding[name] = guard(member as (...args: unknown[]) => unknown, glue, prepare);
  }
  return binding as Binding;
}

function guard(
  call: (...args: unknown[]) => unknown,
  glue: Glue,
  prepare: () => void,
): (...args: unknown[]) => unknown {
  return (...args) => {
    try {
      const result = call(...args);
      if (!isHeld(result)) return result;
      const copy = copied(result);
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

/** Copies the fields of a result, which are accessors into the module's memory. */
function copied(result: WasmResult): unknown {
  const fields = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(result)));
  const readable = fields.filter(([, { get }]) => get !== undefined);
  return Object.fromEntries(readable.map(([name]) => [name, Reflect.get(result, name)]));
}
