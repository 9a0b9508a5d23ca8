// Sends edits with the mistakes that models make, and looks at what edit_file does with each.
//
// The code is that of the installed packages, changed in small ways; with FILEWRIGHT_EDIT_PAIRS, a list
// OLD:NEW,... of directories, it is what really changed between two versions of each. A case is right
// where the file is as meant, or where an edit that cannot be clear is refused; wrong where the file is
// any other. A refusal has to show the lines that were meant: to name their numbers, or to quote one.
import { MemoryBackend, openWorkspace } from "../../dist/cli/library.js";
import { hunksBetween, madeUpHunks } from "./edits/hunks.mjs";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { casesPerMistakeFor, editCases } from "./edits/set.mjs";

/** The required shares, over all cases. */
const MIN_RIGHT = 0.975;
const MAX_WRONG = 0.001;
const MIN_SHOWN = 0.98;

function hunksOf(random, count) {
  const pairs = (process.env.FILEWRIGHT_EDIT_PAIRS ?? "").split(",").filter(Boolean);
  if (pairs.length === 0)
    return madeUpHunks(["node_modules"], random, Math.max(400, casesPerMistakeFor(count) * 40));
  return pairs.flatMap((pair) => hunksBetween(...pair.split(":")));
}

/** Returns true when an answer names a line of the range `first` to `last`, or quotes one of the lines. */
function shows(text, { first, lines }) {
  const last = first + lines.length - 1;
  for (const [, list] of text.matchAll(/\blines? ((?:\d+(?:-\d+)?(?:, | and )?)+)/gu)) {
    for (const [, from, to = from] of list.matchAll(/(\d+)(?:-(\d+))?/gu)) {
      if (Number(from) <= last && Number(to) >= first) return true;
    }
  }
  return lines.some((line) => line.trim().length > 3 && text.includes(line.trim()));
}

/** @returns {Promise<{ verdict: "right" | "refused" | "wrong", text: string }>} */
async function send(one) {
  const backend = new MemoryBackend({ "/w/f": one.file_text });
  const ws = await openWorkspace({ root: "/w", backend, guard: "off", history: false });
  try {
    const edits = [{ old_text: one.old, new_text: one.new }];
    const { text } = await ws.call("edit_file", { path: "f", edits, match: "fuzzy" });
    const now = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await backend.readBytes("/w/f"));
    if (now === one.file_text) return { verdict: one.expected === null ? "right" : "refused", text };
    return { verdict: now === one.expected || one.also.includes(now) ? "right" : "wrong", text };
  } finally {
    await ws.close();
  }
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "edit_file with the mistakes that models make, over real code",
  count: 1_000,
  // What has to hold are shares of a thousand, which fewer cases meet or miss by chance.
  share: 0,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    const made = random.shuffle([...editCases(hunksOf(random, count), random, casesPerMistakeFor(count))]);
    const failures = [];
    const [refused, hidden] = [[], []];
    let [cases, right, wrong] = [0, 0, 0];
    for (const one of made.slice(0, count)) {
      if (isOver()) break;
      const { verdict, text } = await send(one);
      cases += 1;
      if (verdict === "right") right += 1;
      else if (verdict === "refused") {
        refused.push(one);
        const first = one.file_text
          .slice(0, one.file_text.indexOf(one.meant.join(one.eol)))
          .split("\n").length;
        if (!shows(text, { first, lines: one.meant })) hidden.push(one);
        console.log(`refused: ${one.id} of ${one.src}: ${JSON.stringify(text.slice(0, 200))}`);
      } else {
        wrong += 1;
        console.log(`wrong: ${one.id} of ${one.src}`);
      }
    }
    console.log(
      `edits: right ${right}, refused ${refused.length} (${hidden.length} without the meant lines), wrong ${wrong}`,
    );
    if (right < MIN_RIGHT * cases) failures.push(`${right} of ${cases} are right`);
    if (wrong > MAX_WRONG * cases) failures.push(`${wrong} of ${cases} are wrong`);
    if (hidden.length > (1 - MIN_SHOWN) * refused.length)
      failures.push(`${hidden.length} of ${refused.length} refusals do not show the meant lines`);
    return { cases, failures };
  },
};
