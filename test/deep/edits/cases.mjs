// Makes test cases for the edit matcher from real code with imitated mistakes, in the form that
// test/deep/scores/run.mjs scores. The code is that of the installed packages, so that the repository
// need not contain any.
//
//   node test/deep/edits/cases.mjs [--seed N] [--each N] [--pairs OLD:NEW,...] [DIR ...] > cases.jsonl
//   node test/deep/scores/run.mjs edit SCORER --cases cases.jsonl --list-wrong
//
// With --pairs a case is a hunk of the diff between two versions of a file; otherwise it is a small
// invented change of a file below DIR (default: node_modules). Every kind of mistake is imitated
// alone, and together with every other. `npm run deep -- edits` makes the same cases and scores
// them itself.
import { hunksBetween, madeUpHunks } from "./hunks.mjs";
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";
import { editCases } from "./set.mjs";

const OPTION_VALUES = new Map();
const sourceDirectories = [];
for (let at = 2; at < process.argv.length; at++) {
  const arg = process.argv[at];
  if (arg.startsWith("--")) OPTION_VALUES.set(arg.slice(2), process.argv[++at]);
  else sourceDirectories.push(arg);
}
const random = seededRandom(Number(OPTION_VALUES.get("seed") ?? 1));
const casesPerMistake = Number(OPTION_VALUES.get("each") ?? 20);
const directoryPairs = (OPTION_VALUES.get("pairs") ?? "").split(",").filter(Boolean);
const hunks =
  directoryPairs.length > 0
    ? directoryPairs.flatMap((pair) => hunksBetween(...pair.split(":")))
    : madeUpHunks(
        sourceDirectories.length > 0 ? sourceDirectories : ["node_modules"],
        random,
        casesPerMistake * 40,
      );
for (const line of editCases(hunks, random, casesPerMistake))
  process.stdout.write(`${JSON.stringify(line)}\n`);
