/**
 * The names of tools and arguments in texts. Under a preset a model knows other names, and lacks
 * some: a remedy that it cannot follow is omitted.
 */

/** The names that a reader of a text knows. */
export interface Names {
  /** Returns a tool's name; undefined when the tool is not offered. */
  tool(name: string): string | undefined;
  /** Returns the name of an argument of the called tool; undefined when it cannot be given. */
  argument(name: string): string | undefined;
  /** Converts a value of that argument to the reader's unit. */
  value(name: string, value: number): number;
}

/** The canonical names. */
export const OWN_NAMES: Names = Object.freeze({
  tool: (name: string) => name,
  argument: (name: string) => name,
  value: (_name: string, value: number) => value,
});

/** Returns `what(name)`, or an empty text without a name. */
export function where(name: string | undefined, what: (name: string) => string): string {
  return name === undefined ? "" : what(name);
}

/** Returns `name=value` as the reader would write it; undefined when it cannot be given. */
export function assign(names: Names, argument: string, value: number | string): string | undefined {
  const name = names.argument(argument);
  if (name === undefined) return undefined;
  return typeof value === "string" ? `${name}="${value}"` : `${name}=${names.value(argument, value)}`;
}
