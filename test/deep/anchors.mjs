// Edits by anchors that were read before the file changed: an edit lands on the line that was named, or is refused.
//
// A case: a file of random lines, many of them equal, is read with anchors; lines are then inserted, removed and replaced
// by lines that are new; one line is edited by its old anchor. It must be a line that a longest common subsequence of
// both texts pairs with the one that was read: which of several equal lines in a row was removed, no text shows.
//
// An anchor alone cannot tell a line from a copy of it and both its neighbours that was written elsewhere while the line
// or a neighbour changed, so no such copies are made here.
import "../../dist/index.node.js"; // loads the engine
import { lineAnchors, planEdits } from "../../dist/engine/index.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const MAX_FAILURES = 20;
const EDITS_PER_FILE = 20;
/** Few enough that most files have equal lines with equal neighbours. */
const LINES = ["}", "", "  }", "item", "  return x;", "  x();", "import a", "});", "{", "end"];

const makeLine = (random) => (random.chance(0.75) ? random.pick(LINES) : `line ${random.below(1000)}`);

/** Changes a file as another program does. `makeNew` makes a line that is nowhere else. */
function change(random, lines, makeNew) {
  const after = [...lines];
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(after.length + 1);
    const kind = random.below(3);
    if (kind === 0) after.splice(at, 0, ...Array.from({ length: 1 + random.below(5) }, makeNew));
    else if (kind === 1) after.splice(at, 1 + random.below(5));
    else if (at < after.length) after[at] = makeNew();
  }
  return after;
}

/**
 * The lengths of the longest common subsequences of all beginnings of two lists of lines.
 *
 * @returns a function of how many lines of each are taken
 */
function commonLengths(left, right) {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  for (let i = 1; i <= left.length; i++) {
    for (let j = 1; j <= right.length; j++) {
      lengths[i * width + j] =
        left[i - 1] === right[j - 1]
          ? lengths[(i - 1) * width + j - 1] + 1
          : Math.max(lengths[(i - 1) * width + j], lengths[i * width + j - 1]);
    }
  }
  return (i, j) => lengths[i * width + j];
}

/** @returns whether a line of `now` may be one of `read`, as far as both texts tell: a function of both indexes. */
function correspondence(read, now) {
  const before = commonLengths(read, now);
  const after = commonLengths(read.toReversed(), now.toReversed());
  const all = before(read.length, now.length);
  return (i, j) =>
    read[i] === now[j] && before(i, j) + 1 + after(read.length - i - 1, now.length - j - 1) === all;
}

const textOf = (lines) => lines.map((line) => `${line}\n`).join("");

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "edits by stale anchors: on the line that was named, or refused",
  count: 1_000_000,
  share: 20_000,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    let ids = 0;
    const makeNew = () => `new ${++ids}`;
    const failures = [];
    let [cases, made] = [0, 0];
    while (cases < count && !isOver() && failures.length < MAX_FAILURES) {
      const read = Array.from({ length: 3 + random.below(40) }, () => makeLine(random));
      const anchors = lineAnchors(textOf(read));
      const now = change(random, read, makeNew);
      const text = textOf(now);
      if (text === textOf(read)) continue;
      const mayBe = correspondence(read, now);
      for (let left = EDITS_PER_FILE; left > 0 && cases < count; left--) {
        const first = random.below(read.length);
        const last = random.chance(0.3) ? Math.min(read.length - 1, first + random.below(4)) : first;
        const anchor = (at) => `${at + 1}#${anchors.slice(6 * at, 6 * at + 6)}`;
        const edit = { from: anchor(first), to: anchor(last), newText: "EDITED" };
        const plan = planEdits(text, [edit]);
        cases += 1;
        if (!plan.ok) continue;
        made += 1;
        const [{ startLine, endLine }] = plan.edits;
        if (mayBe(first, startLine - 1) && mayBe(last, endLine - 1)) continue;
        failures.push(
          `${JSON.stringify(textOf(read))} became ${JSON.stringify(text)}: ${edit.from} to ${edit.to} changed lines ${startLine} to ${endLine}`,
        );
      }
    }
    // A run in which everything is refused would show nothing.
    if (cases > 1000 && made < cases / 10) failures.push(`only ${made} of ${cases} edits were made`);
    console.log(`${made} of ${cases} edits were made, the others refused`);
    return { cases, failures };
  },
};
