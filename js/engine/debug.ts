/**
 * Diagnostic lines, by area. An area that is off costs one look-up of a property. On Node
 * `FILEWRIGHT_DEBUG=call,search` switches areas on. No line contains the content of a file.
 *
 * @example debug.search?.(`${root}: ${files} files`); // the text is only made where the area is on
 */

/** The areas, each with a description of its lines. */
export const DEBUG_AREAS = {
  call: "each call: tool, paths, code, milliseconds",
  engine: "which engine is used, and why",
  lock: "how long a change waited for its locks",
  policy: "each decision and the source that made it",
  recovery: "what was rolled back, ignored or in conflict when a workspace was opened",
  search: "how a search made sure that its index was current, and how many files it read",
} as const;

/** The name of an area of debug lines. */
export type DebugArea = keyof typeof DEBUG_AREAS;

/** The functions that print a line, by area; an area that is off has none. */
export const debug: { [Area in DebugArea]?: (line: string) => void } = {};

/**
 * Prints a warning about a mistake in the program that uses this package. It goes to standard error, and in a browser to
 * the console.
 */
export function warnDeveloper(text: string): void {
  console.warn(`filewright: ${text}`);
}
