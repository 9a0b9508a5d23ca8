/**
 * Lines about what happens inside, for whoever looks for a fault. Every area is off, and costs one
 * look-up, until an entry switches it on: on Node by `FILEWRIGHT_DEBUG`. A line names tools, paths,
 * codes and times, never contents.
 *
 * @example debug.search?.(`${root}: ${files} files`); // the text is only made where the area is on
 */

/** The areas, with what their lines say. */
export const DEBUG_AREAS = {
  call: "each call: tool, paths, code, milliseconds",
  engine: "which engine is used, and why",
  lock: "how long a change waited for its locks",
  policy: "each decision and the source that made it",
  recovery: "what was rolled back, left or ignored at opening",
  search: "how a search knew that its view was current, and how many files it read",
} as const;

/** An area of debug lines. */
export type DebugArea = keyof typeof DEBUG_AREAS;

/** The function that takes the lines of an area; absent where the area is off. */
export const debug: { [Area in DebugArea]?: (line: string) => void } = {};
