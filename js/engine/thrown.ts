/** The message of anything that was thrown: an error of ours, of a library, of another realm, or no error at all. */

/** Returns the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  // Not `instanceof`: the addon's errors are of the first realm of Node, and Jest runs modules in another.
  const { message } = Object(thrown) as { readonly message?: unknown };
  return typeof message === "string" ? message : String(thrown);
}
