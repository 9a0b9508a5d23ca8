/**
 * Refuses to make a name that people cannot tell from another one: with white space at an end, as models send it
 * behind a path, or with a line break.
 */
import type { Files } from "../../backends/files.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import { entryExists } from "./entry-exists.ts";

/** An entry that a call would create. */
export interface NewEntry {
  readonly argument: string;
  /** The path as it was sent. */
  readonly typed: string;
  readonly path: string;
}

const LINE_BREAKS = /[\n\r]+/gu;
const hasEnds = (name: string): boolean => name !== name.trim();
const isOdd = (name: string): boolean => hasEnds(name) || name.search(LINE_BREAKS) >= 0;
const plainName = (name: string): string => name.trim().replaceAll(LINE_BREAKS, "_");

/**
 * Checks every name of the path that does not exist yet.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the path without what cannot be seen
 */
export async function refuseOddNewNames(
  { argument, typed, path }: NewEntry,
  { fs, display }: { readonly fs: Files; display(path: string): string },
): Promise<void> {
  const names = path.split("/");
  for (const [index, name] of names.entries()) {
    if (!isOdd(name) || (await entryExists(fs, names.slice(0, index + 1).join("/"), true))) continue;
    const plain = names.map((one, at) => (at < index ? one : plainName(one))).join("/");
    const what = hasEnds(name) ? "begins or ends in white space" : "holds a line break";
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `Invalid argument '${argument}': the name '${escapeControls(name)}' ${what}; send '${escapeControls(display(plain))}'.`,
      { complete: true, path: typed, details: { argument } },
    );
  }
}
