/** Bytes, hashes and plain values. */

/** Returns the bytes of several arrays as one array, which is the only one itself. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Returns bytes in hexadecimal, two digits each. */
export function hexOf(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return hex;
}

/** Returns the SHA-256 of bytes in hexadecimal. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)));
}

/** The members of an object that have a value: those that may be undefined are optional. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Returns an object with the members of a plain one that have a value. */
export function withoutUndefined<const T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Returns the message of anything that was thrown, also by a client of another realm. */
export function messageOf(thrown: unknown): string {
  const { message } = Object(thrown) as { readonly message?: unknown };
  return typeof message === "string" ? message : String(thrown);
}
