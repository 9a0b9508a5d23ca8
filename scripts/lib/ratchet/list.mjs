// The list of offenders that scripts/ratchet.mjs permits: how it is read and written, and how what is
// found in a checkout is compared with it.
//
// A row names a file and a declaration, but no line, so that it stays valid when lines move.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError, root } from "../run.mjs";

/** The path of the list in a checkout. */
export const LIST_PATH = "scripts/ratchet.jsonl";

/** The command that writes the list again. */
export const SHRINK_COMMAND = "node scripts/ratchet.mjs --shrink";

/**
 * A kind of offender. `noun` names its figure, and `remedy` says what to do about one.
 * `isTotal`: a figure is a count of a whole file, so that a part of it may move to another file.
 * @typedef {{ noun: string, remedy: string, isTotal?: boolean }} Kind
 */

/** The kinds of offenders, in their order in the list. @type {Readonly<Record<string, Kind>>} */
export const KINDS = {
  complexity: { noun: "cognitive complexity", remedy: "make it at most 15" },
  lines: { noun: "lines of a function", remedy: "make it at most 60" },
  parameters: { noun: "parameters", remedy: "make it at most 4" },
  members: { noun: "members of a type", remedy: "make it at most 15" },
  optional: { noun: "optional members of a type", remedy: "make it at most 6" },
  spreads: {
    noun: "conditional spreads",
    remedy: "give the object one form, or each form its own type",
    isTotal: true,
  },
  weak: {
    noun: "WeakMap and WeakSet values",
    remedy: "pass the fact as an argument or a member",
    isTotal: true,
  },
  entries: {
    noun: "entries of the package",
    remedy: "put the export into an entry that exists",
    isTotal: true,
  },
  options: { noun: "rows of options", remedy: "take another option out first", isTotal: true },
};

/**
 * One offender: `name` is the declaration in the file, empty for the file itself, and `figure` is the
 * measured count, such as 67 lines. No two of a kind have the same `path` and `name`.
 * @typedef {{ path: string, name: string, figure: number }} Offender
 */

/**
 * The list: the rows of each kind that it names. A kind that it does not name fails the check as stale, and
 * `--shrink` adds it with all its offenders.
 * @typedef {ReadonlyMap<string, readonly Offender[]>} List
 */

/**
 * Reads the text of a list. Its first line names the kinds.
 * @returns {List}
 */
export function parseList(text) {
  const [{ kinds }, ...rows] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const list = new Map(kinds.map((kind) => [kind, []]));
  for (const { kind, ...offender } of rows) {
    if (!list.has(kind))
      throw new BuildError(`${LIST_PATH}: the first line does not name the kind '${kind}'`);
    list.get(kind).push(offender);
  }
  return list;
}

/** Returns the text of a list, sorted. */
export function formatList(list) {
  const lines = [JSON.stringify({ kinds: [...list.keys()] })];
  const keyOf = ({ path, name }) => `${path}\0${name}`;
  for (const [kind, offenders] of list) {
    const sorted = [...offenders].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    for (const { path, name, figure } of sorted) lines.push(JSON.stringify({ kind, path, name, figure }));
  }
  return `${lines.join("\n")}\n`;
}

/** Reads the list of a checkout; undefined if it has none. @returns {List | undefined} */
export function readList(checkout = root) {
  const file = join(checkout, LIST_PATH);
  return existsSync(file) ? parseList(readFileSync(file, "utf8")) : undefined;
}

/** Writes the list of a checkout. */
export const writeList = (checkout, list) => writeFileSync(join(checkout, LIST_PATH), formatList(list));

const sumOf = (offenders) => offenders.reduce((sum, { figure }) => sum + figure, 0);
const keyOf = ({ path, name }) => `${path} ${name}`;
/** Returns how messages name an offender. */
const titleOf = ({ path, name }) => (name === "" ? path : `${path}: ${name}`);

const lastName = ({ name }) => name.split(".").at(-1);

/**
 * Returns the row that permitted an offender before it was moved or renamed: the smallest row that permits
 * its figure and ends in the same name, else the smallest in the same file. Undefined if there is none.
 */
function rowBeforeMove(offender, rows) {
  const permitting = [...rows].filter(({ figure }) => figure >= offender.figure);
  permitting.sort((a, b) => a.figure - b.figure);
  return (
    permitting.find((row) => lastName(row) === lastName(offender)) ??
    permitting.find((row) => row.path === offender.path)
  );
}

/**
 * Returns for each new or grown offender the row that it may have moved from. A row serves only once.
 * @returns {Map<Offender, Offender>}
 */
function movedFrom(offenders, rows) {
  const free = new Set(rows);
  const from = new Map();
  for (const offender of [...offenders].sort((a, b) => b.figure - a.figure)) {
    const row = rowBeforeMove(offender, free);
    if (row === undefined) continue;
    free.delete(row);
    from.set(offender, row);
  }
  return from;
}

/**
 * How the offenders of one kind in a checkout differ from the list.
 * @typedef {{ refused: string[], stale: string[] }} Difference `refused` are messages about offenders
 *   that are new or have grown; `stale` those about rows or kinds of the list that SHRINK_COMMAND corrects
 */

/**
 * Returns the difference of a kind whose figures may move between files: nothing is refused while their
 * sum does not exceed that of the list. @returns {Difference}
 */
function differenceOfTotals(noun, remedy, changes) {
  const { added, grown, gone, smaller, isNoLargerInSum } = changes;
  const more = [
    ...added.map((one) => `${titleOf(one)} has ${one.figure} ${noun} and is not on the list`),
    ...grown.map(([one, row]) => `${titleOf(one)} has ${one.figure} ${noun}; the list permits ${row.figure}`),
  ];
  const less = [
    ...gone.map((row) => `${titleOf(row)} has no ${noun} any more; the list says ${row.figure}`),
    ...smaller.map(([one, row]) => `${titleOf(one)} has ${one.figure} ${noun}; the list says ${row.figure}`),
  ];
  if (isNoLargerInSum) return { refused: [], stale: [...more.map((text) => `${text} (moved)`), ...less] };
  return { refused: more.map((text) => `${text}: ${remedy}`), stale: less };
}

/**
 * Returns the difference of a kind of which each figure belongs to one declaration. One that has grown
 * may have got the name of another: of two functions `f` and `f#2`, the second becomes `f` when the
 * first is gone.
 * @returns {Difference}
 */
function differenceOfEach(noun, remedy, { added, grown, gone, smaller }) {
  const grownRows = new Map(grown);
  const from = movedFrom([...added, ...grownRows.keys()], [...gone, ...grownRows.values()]);
  const taken = new Set(from.values());
  return {
    refused: [
      ...added
        .filter((one) => !from.has(one))
        .map((one) => `${titleOf(one)} is not on the list with ${noun} ${one.figure}: ${remedy}`),
      ...grown
        .filter(([one]) => !from.has(one))
        .map(
          ([one, { figure }]) =>
            `${titleOf(one)} has grown from ${figure} to ${one.figure} (${noun}): make it smaller`,
        ),
    ],
    stale: [
      ...[...from].map(([one, row]) => `${titleOf(row)} has become ${titleOf(one)} (${noun})`),
      ...gone
        .filter((row) => !taken.has(row))
        .map((row) => `${titleOf(row)} is no offender any more (${noun}, listed with ${row.figure})`),
      ...smaller.map(
        ([one, row]) => `${titleOf(one)} has shrunk from ${row.figure} to ${one.figure} (${noun})`,
      ),
    ],
  };
}

/**
 * Compares the offenders of one kind with those that the list permits.
 * @param {string} kind a key of `KINDS`
 * @param {readonly Offender[]} found all that the checkout has
 * @param {List | undefined} list
 * @returns {Difference}
 */
export function compareWithList(kind, found, list = readList()) {
  const listed = list?.get(kind);
  if (listed === undefined) return { refused: [], stale: [`the list has no kind '${kind}'`] };
  const { noun, remedy, isTotal } = KINDS[kind];
  const rows = new Map(listed.map((row) => [keyOf(row), row]));
  const keys = new Set(found.map(keyOf));
  const pairs = found.map((one) => [one, rows.get(keyOf(one))]);
  const changes = {
    added: found.filter((one) => !rows.has(keyOf(one))),
    grown: pairs.filter(([one, row]) => row !== undefined && one.figure > row.figure),
    smaller: pairs.filter(([one, row]) => row !== undefined && one.figure < row.figure),
    gone: listed.filter((row) => !keys.has(keyOf(row))),
    isNoLargerInSum: sumOf(found) <= sumOf(listed),
  };
  return isTotal ? differenceOfTotals(noun, remedy, changes) : differenceOfEach(noun, remedy, changes);
}

/** Returns the figures of offenders, the largest first. */
const figuresOf = (offenders) => offenders.map(({ figure }) => figure).sort((a, b) => b - a);

/**
 * Returns a message for each kind of which a list permits more than an earlier one. For a total, the sums
 * are compared. For other kinds, both lists of figures are sorted in descending order and compared pair by
 * pair. A row that was moved or renamed keeps its figure, so it passes.
 * @param {List} earlier
 * @param {List} list
 */
export function growthFaults(earlier, list) {
  const faults = [];
  for (const [kind, before] of earlier) {
    const now = list.get(kind);
    if (now === undefined) {
      faults.push(`the kind '${kind}' is missing`);
      continue;
    }
    const [old, figures] = [figuresOf(before), figuresOf(now)];
    if (KINDS[kind]?.isTotal) {
      if (sumOf(now) > sumOf(before)) faults.push(`'${kind}' has ${sumOf(now)}, before ${sumOf(before)}`);
    } else if (figures.length > old.length) {
      faults.push(`'${kind}' has ${figures.length} rows, before ${old.length}`);
    } else {
      const at = figures.findIndex((figure, index) => figure > old[index]);
      if (at >= 0)
        faults.push(`'${kind}' has a row with ${figures[at]} where none above ${old[at]} was left`);
    }
  }
  return faults;
}
