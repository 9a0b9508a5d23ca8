// Makes cases for the edit matcher out of real code and imitated mistakes, in
// the form that scripts/score-edit.mjs scores. Nothing is kept in the tree: the
// code is that of whatever packages are installed.
//
//   node scripts/edit-cases.mjs [--seed N] [--each N] [--pairs OLD:NEW,...] [DIR ...] > cases.jsonl
//   node scripts/score-edit.mjs --cases cases.jsonl --list-wrong
//
// With --pairs a case is a hunk between two versions of a file; else it is a
// small change made up in a file below DIR (default: node_modules). Every kind
// of mistake is imitated alone, and in pairs.
import { randomOf } from "./lib/edit-random.mjs";
import { hunksBetween, madeUpHunks } from "./lib/edit-hunks.mjs";
import { CORRUPTIONS, MISTAKES } from "./lib/edit-mistakes.mjs";

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
random.shuffle(hunks);

/** A hunk as a case: what the file has, what is sent, what is right. */
function caseOf(hunk) {
  const { before, after, old, made } = hunk;
  const copy = (lines) => [...lines];
  return {
    src: hunk.src,
    before: copy(before),
    after: copy(after),
    // Lines of the file, and what they become; what is sent begins as the same.
    file: copy(old),
    right: copy(made),
    old: copy(old),
    new: copy(made),
    eol: "\n",
    bom: "",
    join: (lines) => lines.join("\n"),
    refuse: false,
  };
}

function written(kind, id, made) {
  const whole = (middle) => made.bom + [...made.before, ...middle, ...made.after].join(made.eol);
  const [old, text] = [made.join(made.old), made.join(made.new)];
  const file = whole(made.current ?? made.file);
  const expected = made.refuse ? null : whole(made.right);
  if (old === "" || old === text || file === expected) return undefined;
  return {
    id,
    kind,
    group: kind,
    lang: "",
    src: made.src,
    file_text: file,
    old,
    new: text,
    expected,
    also: made.also ?? [],
  };
}

const kinds = [
  ...Object.entries({ ...MISTAKES, ...CORRUPTIONS }).map(([name, mistake]) => [name, [mistake]]),
  ...twoAtOnce(),
];
function twoAtOnce() {
  const names = Object.keys(MISTAKES).filter((name) => name !== "exact");
  const all = [];
  for (const first of names) {
    for (const second of names) {
      if (MISTAKES[first].stage < MISTAKES[second].stage)
        all.push([`${first}+${second}`, [MISTAKES[first], MISTAKES[second]]]);
    }
  }
  return random.shuffle(all);
}

let next = 0;
for (const [kind, mistakes] of kinds) {
  const wanted = mistakes.length > 1 ? Math.ceil(each / 4) : each;
  let found = 0;
  for (let tries = 0; tries < hunks.length && found < wanted; tries++) {
    const made = caseOf(hunks[next++ % hunks.length]);
    if (!mistakes.every((mistake) => mistake.make(made, random, hunks))) continue;
    const line = written(kind, `${kind}-${found}`, made);
    if (line === undefined) continue;
    process.stdout.write(`${JSON.stringify(line)}\n`);
    found++;
  }
}
