/**
 * Diagnostic lines by area. An area is off, and costs one look-up of a property, until it is switched
 * on: on Node by `FILEWRIGHT_DEBUG=call,search`. No line has contents of files.
 *
 * @example debug.search?.(`${root}: ${files} files`); // the text is only made where the area is on
 */

/** The areas, with what their lines say. */
export const DEBUG_AREAS = {
  call: "each call: tool, paths, code, milliseconds",
  engine: "which engine is used, and why",
  lock: "how long a change waited for its locks",
  policy: "each decision and the source that made it",
  recovery: "what was rolled back, ignored or in conflict when a workspace was opened",
  search: "how a search made sure that its index was current, and how many files it read",
} as const;

/** An area of debug lines. */
export type DebugArea = keyof typeof DEBUG_AREAS;

/** The functions that take the lines of the areas that are on. */
export const debug: { [Area in DebugArea]?: (line: string) => void } = {};
