// Makes cases for the edit matcher out of real code and imitated mistakes, in
// the form that scripts/score-edit.mjs scores. Nothing is kept in the tree: the
// code is that of whatever packages are installed.
//
//   node scripts/edit-cases.mjs [--seed N] [--each N] [--pairs OLD:NEW,...] [DIR ...] > cases.jsonl
//   node scripts/score-edit.mjs --cases cases.jsonl --list-wrong
//
// With --pairs a case is a hunk between two versions of a file; else it is a
// small change made up in a file below DIR (default: node_modules). Every kind
// of mistake is imitated alone, and in pairs. `npm run deep -- edits` makes the
// same cases and scores them itself.
import { hunksBetween, madeUpHunks } from "./lib/edit-hunks.mjs";
import { randomOf } from "./lib/edit-random.mjs";
import { editCases } from "./lib/edit-set.mjs";

const options = new Map();
const dirs = [];
for (let at = 2; at < process.argv.length; at++) {
  const arg = process.argv[at];
  if (arg.startsWith("--")) options.set(arg.slice(2), process.argv[++at]);
  else dirs.push(arg);
}
const random = randomOf(Number(options.get("seed") ?? 1));
const each = Number(options.get("each") ?? 20);
const pairs = (options.get("pairs") ?? "").split(",").filter(Boolean);
const hunks =
  pairs.length > 0
    ? pairs.flatMap((pair) => hunksBetween(...pair.split(":")))
    : madeUpHunks(dirs.length > 0 ? dirs : ["node_modules"], random, each * 40);
for (const line of editCases(hunks, random, each)) process.stdout.write(`${JSON.stringify(line)}\n`);
