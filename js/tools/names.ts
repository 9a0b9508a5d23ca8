/**
 * What tools and arguments are called where a text is read. Under a preset a
 * model knows other names, and lacks some: a remedy it cannot follow is left out.
 */

/** The names a reader knows. */
export interface Names {
  /** A tool's name; undefined where it is not offered. */
  tool(name: string): string | undefined;
  /** The name of an argument of the tool that was called; undefined where it cannot be given. */
  argument(name: string): string | undefined;
  /** A value of that argument as the reader counts it. */
  value(name: string, value: number): number;
}

/** Our own names. */
export const OWN_NAMES: Names = Object.freeze({
  tool: (name: string) => name,
  argument: (name: string) => name,
  value: (_name: string, value: number) => value,
});

/** `what` about a name, or nothing where there is no such name. */
export function where(name: string | undefined, what: (name: string) => string): string {
  return name === undefined ? "" : what(name);
}

/** `name=value` as the reader would write it; undefined where it cannot be given. */
export function assign(names: Names, argument: string, value: number | string): string | undefined {
  const name = names.argument(argument);
  if (name === undefined) return undefined;
  return typeof value === "string" ? `${name}="${value}"` : `${name}=${names.value(argument, value)}`;
}
