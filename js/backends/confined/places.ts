/**
 * Protected and secret places: the rows of the engine's table, and the changes a host makes to
 * them.
 *
 * The table itself is `crates/core/src/pattern/policy/table.rs`, where its pattern language is described.
 */
import { engine } from "../../engine/current.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { nearest } from "../../schema/nearest.ts";
import { list, type Options, options, text } from "../../schema/option.ts";

/** The decision of a row of the table about the places that it names. */
export type PlaceDecision =
  /** Tools never write it: a program runs or obeys it without a further action of the user. */
  | "refuse"
  /**
   * A person is asked before tools write it; where no approver exists it is written and the answer
   * says so.
   */
  | "ask"
  /** Tools write it: an exception to a wider row. */
  | "allow"
  /** The content of the place is not read without a grant. */
  | "secret"
  /** The content of the place may be read: an exception to a wider row. */
  | "readable";

/** One row of the table of places. */
export interface PlaceRow {
  readonly decision: PlaceDecision;
  /**
   * Names separated by `/`, matched at any depth and in any letter case; with a leading `/` from the root of the
   * file system. `*` is any part of a name, `{a,b}` either. What is below a match is covered too; a pattern that
   * ends in `/**` covers only that.
   */
  readonly pattern: string;
  /** One sentence that says which program runs or reads it, and when. */
  readonly reason: string;
}

/**
 * Changes to the table of protected and secret places. Each list holds patterns as in the table:
 * rows of it, or places of your own. No place may be in two lists of one kind.
 *
 * @example { allow: [".vscode/settings.json"], refuse: ["deploy/prod"], secret: ["*.token"] }
 */
export interface PlacesOptions {
  /** The places that tools write without a question. Each must be in a row that refuses or asks. Default: none. */
  readonly allow?: readonly string[] | undefined;
  /**
   * The places about which a person is asked before tools write them, even if the table refuses them. Default:
   * none.
   */
  readonly ask?: readonly string[] | undefined;
  /** The places that tools never write. Default: none. */
  readonly refuse?: readonly string[] | undefined;
  /** The places whose content is not read without a grant. Default: none. */
  readonly secret?: readonly string[] | undefined;
  /** The places whose content is read like other files, though the table has them as secret. Default: none. */
  readonly readable?: readonly string[] | undefined;
}

/** The option `access.places`. */
export const PLACES_OPTIONS: Options<PlacesOptions> = options("PlacesOptions", {
  allow: list(text()),
  ask: list(text()),
  refuse: list(text()),
  secret: list(text()),
  readable: list(text()),
});

/** The names of the lists of {@link PlacesOptions}, in the order in which they are encoded. */
const PLACE_LISTS: readonly PlaceDecision[] = ["allow", "ask", "refuse", "secret", "readable"];

/**
 * Returns the lists of places in the form of a policy: for each place a word of the table, a space and a pattern.
 *
 * @throws FilewrightError INVALID_ARGUMENT for an unknown list or invalid place, LIMIT_EXCEEDED
 */
export function encodePlaces(given: PlacesOptions | undefined): readonly string[] {
  if (given === undefined) return [];
  const fail = (message: string): never => {
    throw new FilewrightError("INVALID_ARGUMENT", message);
  };
  if (typeof given !== "object" || given === null || Array.isArray(given))
    fail("places must be an object of lists");
  for (const name of Object.keys(given)) {
    if ((PLACE_LISTS as readonly string[]).includes(name)) continue;
    const close = nearest(name, PLACE_LISTS);
    fail(`there is no list of places '${name}'${close === undefined ? "" : `; did you mean '${close}'?`}`);
  }
  const places = PLACE_LISTS.flatMap((name) => {
    const places: readonly unknown[] = given[name as keyof PlacesOptions] ?? [];
    if (!Array.isArray(places) || places.some((place) => typeof place !== "string" || place === ""))
      fail(`places.${name} must be a list of places that are not empty`);
    const wrong = (places as readonly string[]).find((place) => place.includes("\\"));
    if (wrong !== undefined)
      fail(`the place '${escapeControls(wrong)}' has a backslash; separate names with /`);
    return places.map((place) => `${name} ${place as string}`);
  });
  if (places.length === 0) return places;
  try {
    engine().compileRules({ cwd: "/", roots: [], deny: [], protect: true, secrets: true, places });
  } catch (error) {
    throw withNearestRow(error);
  }
  return Object.freeze(places);
}

/** Returns the error about an unknown place with the nearest row of the table added. */
function withNearestRow(error: unknown): unknown {
  if (!(error instanceof FilewrightError)) return error;
  const place = error.details?.["place"];
  if (typeof place !== "string") return error;
  const depth = place.split("/").length;
  const known = placeRows().flatMap(({ pattern }) => expandAlternatives(pattern));
  const close = nearest(place, new Set(known.filter((pattern) => pattern.split("/").length === depth)));
  if (close === undefined || close === place) return error;
  return new FilewrightError(error.code, `${error.message}; did you mean '${close}'?`, {
    complete: true,
    details: error.details,
  });
}

/** Returns the patterns for which the braces of a pattern stand. */
function expandAlternatives(pattern: string): readonly string[] {
  const group = /^([^{]*)\{([^}]*)\}(.*)$/s.exec(pattern);
  if (group === null) return [pattern];
  const [, before = "", choices = "", after = ""] = group;
  return choices.split(",").flatMap((choice) => expandAlternatives(before + choice + after));
}

/** The word before a place that is one absolute path, in which every character stands for itself. */
const LITERAL_PATH_WORD = "path";

/** Returns the place for one absolute path that tools never write. */
export function pathPlace(path: string): string {
  return `${LITERAL_PATH_WORD} ${path}`;
}

let tableRows: readonly PlaceRow[] | undefined;

/**
 * Returns the table of protected and secret places, in its order.
 *
 * @example placeRows().filter(({ decision }) => decision === "refuse").map(({ pattern }) =>
 * pattern);
 */
export function placeRows(): readonly PlaceRow[] {
  tableRows ??= Object.freeze(
    engine()
      .placeTable()
      .trimEnd()
      .split("\n")
      .map((line) => {
        const [decision, pattern, reason] = line.split("\t") as [PlaceDecision, string, string];
        return Object.freeze({ decision, pattern, reason });
      }),
  );
  return tableRows;
}

/** Returns the row with an index. Indexes after the table are those of the places of the host. */
export function placeRow(index: number, places: readonly string[]): PlaceRow {
  const own = placeRows()[index];
  if (own !== undefined) return own;
  const place = places[index - placeRows().length] ?? "";
  const cut = place.indexOf(" ");
  const [word, pattern] = [place.slice(0, cut), place.slice(cut + 1)];
  if (word === LITERAL_PATH_WORD) {
    const reason = "The configuration of a git repository names it: git runs or obeys what is there.";
    return Object.freeze({ decision: "refuse", pattern, reason });
  }
  return Object.freeze({
    decision: word as PlaceDecision,
    pattern,
    reason: "The host of this workspace says so.",
  });
}
