/** The paths that a question is about. */
import { isWithin, parentOf } from "../../../backends/paths.ts";
import type { ReviewQuestion } from "../../protocol.ts";

/** A question about a change. */
export type ChangeQuestion = ReviewQuestion & { readonly kind: "change" };

/** Returns every path of a question, also those from which something is moved or copied. */
export function pathsOf({ changes }: ChangeQuestion): readonly string[] {
  return changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
}

/** Returns the deepest directory that contains these paths. */
export function directoryOf([first = "/", ...others]: readonly string[]): string {
  let dir = parentOf(first);
  while (!others.every((path) => isWithin(parentOf(path), dir))) dir = parentOf(dir);
  return dir;
}
