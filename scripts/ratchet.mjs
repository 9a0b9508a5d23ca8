// Checks that functions, types and expressions break no limit, but for the offenders on a list that may
// only shrink (scripts/ratchet.jsonl; scripts/lib/ratchet/list.mjs says what the kinds are).
//
//   node scripts/ratchet.mjs            fails for an offender that is not on the list, one that has grown
//                                       and a row that is stale
//   node scripts/ratchet.mjs --shrink   writes the list again, unless an offender is new or has grown
//
// Also a list that was edited by hand must permit no more than any list of an earlier commit did. A
// function, type or file that gets another place or another name is no new offender: `--shrink` moves its
// row. One that gets both at once is moved by hand in the list; the figure must not grow. A revert of a
// commit that shrank the list fails as well; mend what the commit broke instead.
import { pathToFileURL } from "node:url";
import { readArguments } from "./lib/arguments.mjs";
import { earlierTexts, historyDepth } from "./lib/git-history.mjs";
import { expressionOffenders } from "./lib/ratchet/expressions.mjs";
import { functionOffenders, suppressionFaults } from "./lib/ratchet/functions.mjs";
import {
  compareWithList,
  growthFaults,
  KINDS,
  LIST_PATH,
  parseList,
  readList,
  SHRINK_COMMAND,
  writeList,
} from "./lib/ratchet/list.mjs";
import { loadSources } from "./lib/ratchet/program.mjs";
import { surfaceOffenders } from "./lib/ratchet/surface.mjs";
import { typeOffenders } from "./lib/ratchet/types.mjs";
import { BuildError, root, runScript } from "./lib/run.mjs";

/**
 * Returns all offenders of a checkout, by kind.
 * @returns {Promise<import("./lib/ratchet/list.mjs").List>}
 */
export async function findOffenders(checkout) {
  // Biome runs while this process makes the program.
  const functions = functionOffenders(checkout);
  const sources = loadSources(checkout);
  const found = {
    ...typeOffenders(sources),
    ...expressionOffenders(sources),
    ...surfaceOffenders(checkout),
    ...(await functions),
  };
  return new Map(Object.keys(KINDS).map((kind) => [kind, found[kind]]));
}

/**
 * How many earlier lists a list is compared with. Each of them was compared in its time with those before
 * it, so that the latest suffice.
 */
const COMPARED_LISTS = 50;

/** Returns a message for each earlier list of the history that a list exceeds. */
function growthFaultsInHistory(checkout, list) {
  const earlier = earlierTexts(checkout, LIST_PATH, COMPARED_LISTS);
  const texts = new Map(earlier.map(({ commit, text }) => [text, commit]));
  return [...texts].flatMap(([text, commit]) =>
    growthFaults(parseList(text), list).map(
      (fault) => `${LIST_PATH} permits more than in commit ${commit}: ${fault}; take the new rows out`,
    ),
  );
}

/** Returns what could not be compared with history, as a note; undefined if everything was. */
function historyNote(checkout) {
  const depth = historyDepth(checkout);
  if (depth === "full") return undefined;
  return `note: ${LIST_PATH} is compared with no list of the commits before, because ${
    depth === "none" ? "there is no git history" : "the clone is shallow; fetch it with its whole history"
  }`;
}

/**
 * Compares the offenders of a checkout with its list and with those of earlier commits.
 * @returns {{ refused: string[], stale: string[] }} messages
 */
export function ratchetFaults(checkout, found, list) {
  const differences = [...found].map(([kind, offenders]) => compareWithList(kind, offenders, list));
  return {
    refused: [
      ...differences.flatMap(({ refused }) => refused),
      ...suppressionFaults(checkout),
      ...growthFaultsInHistory(checkout, list),
    ],
    stale: differences.flatMap(({ stale }) => stale),
  };
}

/**
 * Writes the list of a checkout again, unless it would permit more than before. The first list of a
 * checkout permits all that is there.
 * @throws BuildError for an offender that is new or has grown
 */
export async function shrinkList(checkout) {
  const found = await findOffenders(checkout);
  const list = readList(checkout);
  const kept = new Map([...(list ?? []), ...found]);
  const { refused } = list === undefined ? { refused: [] } : ratchetFaults(checkout, found, list);
  const faults = [...refused, ...growthFaultsInHistory(checkout, kept)];
  if (faults.length > 0) throw new BuildError(`the list stays as it is:\n${faults.join("\n")}`);
  writeList(checkout, kept);
}

/** Checks a checkout. @throws BuildError with a line for each fault */
export async function checkRatchet(checkout) {
  const list = readList(checkout);
  if (list === undefined) throw new BuildError(`${LIST_PATH} is missing; write it with: ${SHRINK_COMMAND}`);
  const { refused, stale } = ratchetFaults(checkout, await findOffenders(checkout), list);
  const faults = [...refused, ...stale.map((text) => `${text}; run: ${SHRINK_COMMAND}`)];
  if (faults.length > 0)
    throw new BuildError(`the ratchet has ${faults.length} faults:\n${faults.join("\n")}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const flags = { "--shrink": { description: "writes the list again" } };
    const given = readArguments(process.argv.slice(2), flags).flags;
    const note = historyNote(root);
    if (note !== undefined) console.log(note);
    await (given["--shrink"] ? shrinkList(root) : checkRatchet(root));
  });
}
