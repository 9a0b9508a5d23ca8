/** Assertions of the suites, so that they do not need a test framework, and what all of them share. */
import type { MaybePromise } from "../backends/backend.ts";
import { type Code, FilewrightError } from "../engine/errors.ts";

/** The function `test` or `it` of a test framework. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** Registers cases with a test framework. @throws Error when a name in `except` is none of a case */
export function registerCases<
  S extends { dispose?(): MaybePromise<void> },
  C extends { readonly name: string },
>(
  { test, except = [] }: { readonly test: TestFunction; readonly except?: readonly string[] | undefined },
  makeSubject: () => MaybePromise<S>,
  cases: readonly C[],
  run: (one: C, subject: S) => Promise<void>,
): void {
  const unknown = except.filter((name) => !cases.some((one) => one.name === name));
  assertEqual(unknown, [], "names in `except` that are no cases");
  for (const one of cases)
    if (!except.includes(one.name))
      test(one.name, async () => {
        const subject = await makeSubject();
        try {
          await run(one, subject);
        } finally {
          await subject.dispose?.();
        }
      });
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
