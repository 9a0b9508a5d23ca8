/** Finds a call of the history by its id, or by any beginning of it that no other id has. */
import { makeError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import { UsageError } from "../schema/command-line.node.ts";

/** The maximum number of UTF-16 units of a typed id that an error shows, and of ids that it lists. */
const [MAX_SHOWN_CHARS, MAX_LISTED_IDS] = [80, 4];

/**
 * Returns the one whose id begins with the typed text, or undefined when none does, as for an empty text. An id that is typed whole is meant
 * even where a longer one begins with it.
 * @throws UsageError when several ids begin with it
 */
export function findByBeginning<T extends { readonly callId: string }>(
  all: readonly T[],
  typed: string,
): T | undefined {
  if (typed === "") return undefined;
  const found = all.filter(({ callId }) => callId.startsWith(typed));
  const whole = found.find(({ callId }) => callId === typed);
  if (whole !== undefined || found.length < 2) return whole ?? found[0];
  const ids = found.slice(0, MAX_LISTED_IDS).map(({ callId }) => callId);
  const more = found.length > MAX_LISTED_IDS ? ", …" : "";
  throw new UsageError(
    `several ids begin with '${shownId(typed)}'; give more of it: ${ids.join(", ")}${more}`,
  );
}

/** The words of an error about an id that nothing has. */
export interface MissingWords {
  /** The start of the sentence. */
  readonly no: (id: string) => string;
  /** The command that lists the ids. */
  readonly list: string;
}

const NO_CALL: MissingWords = {
  no: (id) => `There is no call '${id}' in the history`,
  list: "filewright history",
};

/**
 * Returns the one whose id begins with the typed text.
 * @throws UsageError when several do, FilewrightError NOT_FOUND when none does
 */
export function requireByBeginning<T extends { readonly callId: string }>(
  all: readonly T[],
  typed: string,
  { no, list }: MissingWords = NO_CALL,
): T {
  const found = findByBeginning(all, typed);
  if (found !== undefined) return found;
  throw makeError("NOT_FOUND", `${no(shownId(typed))}; ${list} lists them.`, { complete: true });
}

/** Returns what a person typed, as errors show it. */
function shownId(typed: string): string {
  return escapeControls(typed.length > MAX_SHOWN_CHARS ? `${typed.slice(0, MAX_SHOWN_CHARS)}…` : typed);
}
