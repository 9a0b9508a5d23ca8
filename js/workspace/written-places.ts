/**
 * What the table of places says of the paths that a call writes, beyond what every backend refuses: places that a
 * repository below the roots names are refused, and rows that ask are told.
 */
import type { Decision, PlaceRow } from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { escapeControls } from "../tools/text.ts";
import type { LockKey } from "./locks.ts";
import type { Session } from "./session.ts";

/** A path that is written although a row wants a person to be asked. */
export interface AskedPlace {
  /** As it is shown. */
  readonly path: string;
  readonly row: PlaceRow;
}

/**
 * Judges the real paths of a call.
 *
 * @throws FilewrightError PROTECTED_PATH for a place that a repository's configuration names
 */
export async function judgeWritten(
  { resolver, repositories }: Pick<Session, "resolver" | "repositories">,
  keys: readonly (LockKey & { readonly write: boolean })[],
): Promise<readonly AskedPlace[]> {
  const written = keys.filter(({ write }) => write);
  const named = await Promise.all(written.map(({ path }) => repositories?.placeAt(path)));
  return written.flatMap(({ path }, index) => {
    const shown = resolver.display(path);
    if (named[index] !== undefined) {
      const because = "The configuration of a git repository names it: git runs or obeys what is there.";
      const details = { reason: "place", place: resolver.display(named[index]), because };
      throw new FilewrightError("PROTECTED_PATH", "is protected from changes", { path: shown, details });
    }
    const row = resolver.place(path).write;
    return row?.decision === "ask" ? [{ path: shown, row }] : [];
  });
}

/** A decision on a change, with what the rows say that ask: no rule, only the host's own exception takes them out. */
export function withPlaces(
  decision: Decision,
  asked: readonly AskedPlace[],
  confirm: Confirm | undefined,
): Decision {
  return decision === "allow" && confirm !== undefined && asked.length > 0 ? "ask" : decision;
}

/** Whether a call only tells what it would do. */
export function isDryRun(args: object): boolean {
  return (args as { readonly dry_run?: unknown }).dry_run === true;
}

/** What an answer says of places that were written without a question. */
export function warningsOf(asked: readonly AskedPlace[]): readonly string[] {
  const byPath = new Map(asked.map((place) => [place.path, place.row]));
  return [...byPath].map(
    ([path, { reason }]) => `${escapeControls(path)}: ${reason} Nobody was there to be asked; tell the user.`,
  );
}
