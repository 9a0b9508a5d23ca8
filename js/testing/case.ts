/**
 * The parts of a test case: the backend under test, the form of a case, and a few assertions, so that the
 * suite does not need a test framework.
 */
import type { Capability, FsBackend, MaybePromise } from "../backends/backend.ts";
import { type Code, FilewrightError } from "../engine/errors.ts";

/** A backend under test. A new one is created for each case. */
export interface ContractSubject {
  readonly backend: FsBackend;
  /** An absolute path without links: an existing, empty directory in the backend. */
  readonly root: string;
  /** Creates files, by their paths relative to the root, without the backend. Needed for a read-only backend. */
  seed?(files: Readonly<Record<string, string>>): MaybePromise<void>;
  /** Called after the case, to clean up. */
  dispose?(): MaybePromise<void>;
}

/** The objects that a case works with. */
export interface Context {
  readonly backend: FsBackend;
  readonly root: string;
  /** Returns the absolute path of a path relative to the root. */
  at(path: string): string;
  /** Creates files with these contents, and their parent directories, by paths relative to the root. */
  seed(files: Readonly<Record<string, string>>): Promise<void>;
}

/** One test case of the contract. */
export interface ContractCase {
  readonly name: string;
  /** The capabilities that the case tests. It is skipped on a backend without them. */
  readonly needs?: readonly Capability[];
  /**
   * True when the case changes only files that it has seeded itself, so that it is also run on a read-only
   * backend.
   */
  readonly reads?: true;
  run(context: Context): Promise<void>;
}

/** Throws an error with both values when they differ. Arrays and plain objects are compared by content. */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepEqual(actual, expected)) {
    throw new Error(`${what}: expected ${formatValue(expected)}, got ${formatValue(actual)}`);
  }
}

/** Throws an error unless the value is true. */
export function assertTrue(value: boolean, what: string): void {
  if (!value) throw new Error(what);
}

/** Returns the error of a call; throws unless the call fails with one of the codes. */
export async function assertFails(
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
      throw new Error(`${what}: expected a FilewrightError, got ${formatValue(error)}`, { cause: error });
    }
    if (!wanted.includes(error.code)) {
      throw new Error(`${what}: expected ${wanted.join(" or ")}, got ${error.code} (${error.message})`, {
        cause: error,
      });
    }
    return error;
  }
  throw new Error(`${what}: expected ${wanted.join(" or ")}, but it gave ${formatValue(result)}`);
}

/** Throws an error unless the object is frozen. */
export function assertFrozen(value: object, what: string): void {
  assertTrue(Object.isFrozen(value), `${what} must be frozen`);
}

function isDeepEqual(a: unknown, b: unknown): boolean {
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
  return (
    left.length === Object.keys(b).length && left.every(([key, value]) => isDeepEqual(value, right[key]))
  );
}

function formatValue(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
