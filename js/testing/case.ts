/**
 * A case of the contract: the tested backend, the form of a case, and the few assertions, so that the suite
 * needs no framework.
 */
import type { Capability, FsBackend, MaybePromise } from "../backends/backend.ts";
import { type Code, FilewrightError } from "../engine/errors.ts";

/** A backend to be tested: new for each case. */
export interface ContractSubject {
  readonly backend: FsBackend;
  /** An existing, empty directory in it: absolute and free of links. */
  readonly root: string;
  /** Creates files, by path relative to the root, without using the backend: for a read-only one. */
  seed?(files: Readonly<Record<string, string>>): MaybePromise<void>;
  /** Called after the case. */
  dispose?(): MaybePromise<void>;
}

/** The context of a case. */
export interface Context {
  readonly backend: FsBackend;
  readonly root: string;
  /** Returns the absolute path of a path relative to the root. */
  at(path: string): string;
  /** Writes files, with their directories. */
  seed(files: Readonly<Record<string, string>>): Promise<void>;
}

/** One rule of the contract. */
export interface ContractCase {
  readonly name: string;
  /** Capabilities without which the case is skipped. */
  readonly needs?: readonly Capability[];
  /** True when it changes only the files it seeds, so that it applies to a read-only backend too. */
  readonly reads?: true;
  run(context: Context): Promise<void>;
}

/** Fails with both values when they differ; arrays and plain objects are compared by content. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!same(actual, expected)) {
    throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`);
  }
}

/** Fails unless the value is true. */
export function ok(value: boolean, what: string): void {
  if (!value) throw new Error(what);
}

/** Fails unless the call fails with one of the codes; returns the error. */
export async function fails(
  run: () => unknown,
  codes: Code | readonly Code[],
  what: string,
): Promise<FilewrightError> {
  const wanted: readonly string[] = typeof codes === "string" ? [codes] : codes;
  let result: unknown;
  try {
    result = await run();
  } catch (error) {
    if (!(error instanceof FilewrightError)) {
      throw new Error(`${what}: expected a FilewrightError, got ${show(error)}`, { cause: error });
    }
    if (!wanted.includes(error.code)) {
      throw new Error(`${what}: expected ${wanted.join(" or ")}, got ${error.code} (${error.message})`, {
        cause: error,
      });
    }
    return error;
  }
  throw new Error(`${what}: expected ${wanted.join(" or ")}, but it gave ${show(result)}`);
}

/** Fails unless the object is frozen. */
export function frozen(value: object, what: string): void {
  ok(Object.isFrozen(value), `${what} must be frozen`);
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    return i === a.length && i === b.length;
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a);
  const right = b as Record<string, unknown>;
  return left.length === Object.keys(b).length && left.every(([key, value]) => same(value, right[key]));
}

function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
