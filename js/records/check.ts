/** The checks of records before anything is changed, and the errors of their conditions. */
import { byteLength } from "../backends/paths.ts";
import { type Code, FilewrightError } from "../engine/errors.ts";

/** The maximum size of the value of a shared record, in bytes of JSON. */
const MAX_RECORD_BYTES = 64 * 1024;

const refuse = (message: string, code: Code = "INVALID_ARGUMENT"): FilewrightError =>
  new FilewrightError(code, message);

/** Checks a maximum number of results. @throws INVALID_ARGUMENT */
export function checkLimit(limit: number, least = 1): void {
  if (!Number.isSafeInteger(limit) || limit < least)
    throw refuse(`limit must be a whole number of at least ${least}`);
}

/** Checks the name of a shared record. @throws INVALID_ARGUMENT */
export function checkRecordName(kind: string, id: string): void {
  for (const [what, name] of [
    ["kind", kind],
    ["id", id],
  ])
    if (typeof name !== "string" || name === "" || byteLength(name) > 1024 || name.includes("\0"))
      throw refuse(`${what} must be a text of 1 to 1024 bytes without NUL`);
}

/** Checks a number that is added to a counter, or its sum. @throws INVALID_ARGUMENT */
export function checkCount(count: number): void {
  if (!Number.isSafeInteger(count)) throw refuse("a counter is a whole number");
}

/** Returns the number of a counter, whose value is JSON; 0 for one that is not there. @throws INVALID_ARGUMENT */
export function counterOf({ kind, id }: RecordName, json: string | undefined): number {
  const value: unknown = json === undefined ? 0 : JSON.parse(json);
  if (typeof value !== "number") throw refuse(`the record ${kind} ${id} is no counter`);
  return value;
}

/** Returns the value of a shared record as JSON. @throws INVALID_ARGUMENT for any other value, TOO_LARGE */
export function jsonOfRecord(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw refuse("the value of a record must be JSON");
  const size = byteLength(json);
  if (size > MAX_RECORD_BYTES)
    throw new FilewrightError("TOO_LARGE", `a record has at most ${MAX_RECORD_BYTES} bytes of JSON`, {
      details: { size, limit: MAX_RECORD_BYTES },
    });
  return json;
}

/** The name of a record. */
interface RecordName {
  readonly kind: string;
  readonly id: string;
}

/** A revision of a shared record that a change expected and did not find. */
export interface UnmetRecord {
  /** The record whose revision was another one. */
  readonly record: { readonly kind: string; readonly id: string };
  /** The expected revision; null for no record. */
  readonly expected: string | null;
  /** The revision that was found; null for no record. */
  readonly found: string | null;
}

/** Creates the error of changes of records whose conditions did not hold. */
export function unmetError(conflicts: readonly UnmetRecord[]): FilewrightError {
  return new FilewrightError("CONFLICT", "a record has changed since it was read", {
    details: { conflicts },
  });
}

/** Creates the error of a counter that would exceed its maximum. */
export function counterError(record: RecordName, now: number, most: number): FilewrightError {
  return new FilewrightError("LIMIT_EXCEEDED", `the counter would exceed ${most}`, {
    details: { record: { kind: record.kind, id: record.id }, now, most },
  });
}
