// Edits by anchors that were read before the file changed: an edit lands on the line that was named, or is refused.
//
// A case: a file of random lines, many of them equal, is read with anchors; lines are then inserted, removed, replaced
// and moved; one line is edited by its old anchor. Each line has an identity that its text does not show, so that a
// line is known again wherever it went.
import "../../dist/index.node.js"; // loads the engine
import { lineAnchors, planEdits } from "../../dist/engine/index.js";
import { seeded } from "../../scripts/lib/deep-kind.mjs";

const MAX_FAILURES = 20;
const EDITS_PER_FILE = 20;
/** Few enough that most files have equal lines with equal neighbours. */
const LINES = ["}", "", "  }", "item", "  return x;", "  x();", "import a", "});", "{", "end"];

function makeLine(random, next) {
  const text = random.chance(0.75) ? random.pick(LINES) : `line ${random.below(1000)}`;
  return { text, id: next() };
}

/** Changes a file as somebody else does; a moved line keeps its identity, a replaced one has none. */
function change(random, lines, next) {
  const after = [...lines];
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(after.length + 1);
    const kind = random.below(4);
    if (kind === 0) after.splice(at, 0, ...Array.from({ length: 1 + random.below(5) }, () => makeNew(next)));
    else if (kind === 1) after.splice(at, 1 + random.below(5));
    else if (kind === 2 && at < after.length) after[at] = makeNew(next);
    else after.push(...after.splice(at, 1 + random.below(5)));
  }
  return after;
}

/** A line that nobody has read. Its text is new, since a line that is written anew is no other than the old one. */
function makeNew(next) {
  const id = next();
  return { text: `new ${id}`, id };
}

const textOf = (lines) => lines.map(({ text }) => `${text}\n`).join("");

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "edits by stale anchors: on the line that was named, or refused",
  count: 1_000_000,
  share: 20_000,
  async run({ seed, count, isOver }) {
    const random = seeded(seed);
    let ids = 0;
    const next = () => ++ids;
    const failures = [];
    let [cases, made] = [0, 0];
    while (cases < count && !isOver() && failures.length < MAX_FAILURES) {
      const read = Array.from({ length: 3 + random.below(40) }, () => makeLine(random, next));
      const anchors = lineAnchors(textOf(read));
      const now = change(random, read, next);
      const text = textOf(now);
      if (text === textOf(read)) continue;
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
        const [from, to] = [now[startLine - 1], now[endLine - 1]];
        if (from?.id === read[first].id && to?.id === read[last].id) continue;
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
