// Compares the undo of some hunks of a call with `git apply -R` of the same hunks.
//
// A case is a file in some encoding, a call that replaced its content, and a choice of hunks to undo. Git knows no
// UTF-16: it gets that file in UTF-8, and its result is encoded again.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hunksBetween, MemoryBackend, openWorkspace } from "../../dist/cli/library.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import {
  changeText,
  ENCODINGS,
  encoded,
  forGit,
  fromGit,
  makeText,
  printHunk,
  rowsOf,
  splitLines,
} from "./parts.mjs";

const MAX_FAILURES = 20;
/** The number of cases of one workspace and one run of git. */
const CASES_PER_PATCH = 100;
/** The encodings that a file tells for sure. */
const CERTAIN = ENCODINGS.filter(({ name, bom = false }) => bom || !name.startsWith("utf-16"));

/** Makes a case: a call, the choice of its hunks, and the content after their undo. */
async function makeCase(random, { ws, backend, root }, name) {
  const encoding = random.pick(CERTAIN);
  const text = makeText(random, encoding);
  const before = encoded(text, encoding);
  const after = encoded(changeText(random, encoding, text), encoding);
  await backend.writeBytes(`${root}/${name}`, before);
  await backend.writeBytes(`${root}/source`, after);
  const made = await ws.call("copy", { source: "source", destination: name, overwrite: true });
  if (!made.ok) throw new Error(made.text);
  const callId = made.meta.call_id;
  const [change] = await ws.changes(callId);
  const known = { name, encoding, before, after };
  const isSame = before.equals(after);
  const chosen = isSame ? [] : [...change.hunks.keys()].filter(() => change.whole || random.chance(0.5));
  if (chosen.length === 0) return { ...known, chosen, patch: "", undone: after };
  await ws.undo(callId, { parts: [{ path: name, hunks: random.shuffle(chosen) }] });
  const undone = Buffer.from(await backend.readBytes(`${root}/${name}`));
  // Git knows nothing of a change that can only be undone as one.
  if (change.whole) return { ...known, chosen, patch: "", undone, expected: before };
  const [old, now] = [splitLines(forGit(before, encoding)), splitLines(forGit(after, encoding))];
  const hunks = hunksBetween(before, after, encoding.name);
  const numbers = new Set(chosen);
  let patch = "";
  for (const [index, hunk] of hunks.entries()) {
    if (!numbers.has(index)) continue;
    patch += printHunk(hunk, rowsOf(hunk, old, now), hunk.newStart - hunk.oldStart).text;
  }
  patch = `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${patch}`;
  return { ...known, chosen, patch, undone };
}

/** Takes the patches of cases back in a directory. @returns {string | undefined} what git says against it */
function revertByGit(directory, cases) {
  for (const { name, after, encoding } of cases)
    writeFileSync(join(directory, name), Buffer.from(forGit(after, encoding), "latin1"));
  const input = Buffer.from(cases.map(({ patch }) => patch).join(""), "latin1");
  if (input.length === 0) return undefined;
  const { status, stderr } = spawnSync("git", ["apply", "-R", "--whitespace=nowarn", "-"], {
    cwd: directory,
    input,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir(), GIT_CONFIG_NOSYSTEM: "1", HOME: directory },
  });
  return status === 0 ? undefined : `git apply -R: ${stderr}`.trim();
}

/** @returns {string[]} what is wrong with cases */
function checkCases(cases) {
  const directory = mkdtempSync(join(tmpdir(), "filewright-undo-"));
  try {
    const refused = revertByGit(directory, cases);
    if (refused !== undefined && cases.length > 1) return cases.flatMap((one) => checkCases([one]));
    return cases.flatMap(({ name, encoding, before, after, chosen, undone, expected, patch }) => {
      const path = join(directory, name);
      const made = existsSync(path) ? fromGit(readFileSync(path), encoding) : Buffer.alloc(0);
      const isRight = refused === undefined && undone.equals(expected ?? made);
      if (isRight) return [];
      const facts = { encoding: encoding.name, chosen, patch };
      for (const [key, value] of Object.entries({ before, after, undone, made }))
        facts[key] = value.toString("latin1");
      return [`${refused ?? "git makes another content"}: ${JSON.stringify(facts)}`];
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "the undo of some hunks of a call against git apply -R, in encodings and line endings",
  count: 20_000,
  share: 250,
  async run({ seed, count, isOver }) {
    if (spawnSync("git", ["--version"]).status !== 0) return { cases: 0, failures: ["git is not installed"] };
    const random = seededRandom(seed);
    const failures = [];
    let made = 0;
    while (made < count && !isOver() && failures.length < MAX_FAILURES) {
      const root = "/ws";
      const backend = new MemoryBackend({ [root]: { type: "dir" } });
      const ws = await openWorkspace({ root, backend, guard: "off" });
      const cases = [];
      while (cases.length < CASES_PER_PATCH && made < count) {
        cases.push(await makeCase(random, { ws, backend, root }, `f${made}`));
        made += 1;
      }
      await ws.close();
      failures.push(...checkCases(cases));
    }
    return { cases: made, failures };
  },
};
