// Plays the same generated calls through an earlier package and through this tree, and compares everything that can be
// seen: answers, errors, questions, events, files, modes, links, history, undo and rewind.
//
//   npm run deep -- versus --base TARBALL   a tarball of the main package, with that of its addon beside it
//   npm run deep -- versus --base FOLDER    a folder with both
//   npm run deep -- versus --base COMMIT    a commit of this repository, which is compiled
//   npm run deep -- versus                  the commit of the last landing, which versus/base.json names
//
// A case is a step of a session: a call, an undo, a change of another program. A failure is printed as the shortest
// session that shows it; its seed plays it again.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/lib/run.mjs";
import { homeOfBase } from "./versus/base.mjs";
import { makeSession, PRESETS } from "./versus/sessions.mjs";
import { differenceOf, firstDifference, startSide } from "./versus/sides.mjs";
import { makeSites } from "./versus/sites.mjs";
import { scriptOf, shrunk } from "./versus/shrink.mjs";

/** A run ends at so many differences, because one cause shows in many sessions. */
const MAX_FAILURES = 5;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "generated calls through an earlier package and through this tree: the same answers and files",
  count: 20_000,
  share: 600,
  takes: "a tarball, a folder of tarballs or a commit",
  async run({ seed, count, operand, secondsLeft }) {
    const seconds = secondsLeft();
    return compareWith({ home: await homeOfBase(operand), seed, count, seconds });
  },
};

/**
 * Compares the package that a directory resolves with the tree.
 *
 * @param {{ home: string, seed: number, count: number, seconds: number }} run `seconds` is the time of the comparison,
 *   without that for a commit which has to be compiled and for the start of both sides
 */
export async function compareWith({ home, seed, count, seconds }) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "filewright-versus-")));
  const sites = makeSites(top);
  const sides = [startSide(home, sites.scratchOf("b")), startSide(root, sites.scratchOf("t"))];
  try {
    const failures = [];
    const [{ tools, ...base }, { tools: ownTools, ...own }] = await Promise.all(
      sides.map((side) => side.ask({ presets: PRESETS })),
    );
    const other = firstDifference({ ...base, tools }, { ...own, tools: ownTools });
    if (other !== undefined) failures.push(`engine or tools: ${JSON.stringify(other)}`);
    const tally = newTally();
    const end = performance.now() + seconds * 1000;
    const replay = async (session) => {
      const message = { place: session.place, site: session.site, session: JSON.stringify(session) };
      const answers = await Promise.all(sides.map((side) => side.ask(message)));
      tally.add(session, answers[0]);
      return differenceOf(...answers);
    };
    for (
      let next = seed;
      tally.steps < count && performance.now() < end && failures.length < MAX_FAILURES;
      next++
    ) {
      const session = makeSession(next, tools, sites.names);
      const found = await replay(session);
      if (found !== undefined) failures.push(scriptOf(await shrunk(session, found, replay), next));
    }
    console.log(tally.told());
    return { cases: tally.steps, failures };
  } finally {
    await Promise.all(sides.map((side) => side.stop()));
    sites.remove();
    rmSync(top, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Returns what a step counts as. */
function namesOf(step, { answer, raised, changed }) {
  const names = step.do !== "foreign" && Object.keys(changed).length > 0 ? ["changes of files"] : [];
  if (step.do === "call") names.push(answer?.ok ? "calls that succeeded" : "calls that were refused");
  else if (raised === undefined) names.push(step.do);
  return names;
}

/** Counts what sessions reached, because calls that are all refused compare little. */
function newTally() {
  const made = new Map();
  const count = (name) => made.set(name, (made.get(name) ?? 0) + 1);
  const tally = {
    steps: 0,
    add({ site, place, steps }, { steps: answers = [] }) {
      tally.steps += answers.length;
      count(place === "disk" ? (site ?? "disk") : place);
      for (const [index, answer] of answers.entries())
        for (const name of namesOf(steps[index], answer)) count(name);
    },
    told: () =>
      [...made]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, times]) => `${name} ${times}`)
        .join(", "),
  };
  return tally;
}
