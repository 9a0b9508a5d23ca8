// Measures line diffs against jsdiff, which most agents in JavaScript use.
import { applyPatch, createTwoFilesPatch } from "diff";
import { compareShortCalls, median, compareLongRuns, assertSameResult } from "../lib/measure.mjs";
import { textAndEditedText, unrelatedTexts } from "../lib/texts.mjs";

export const title = "diff: unified text of two versions, against jsdiff 9";

/**
 * Returns two texts whose lines are of few kinds in random order, so that no line occurs only once.
 */
function repetitiveTexts(lines) {
  let state = 42;
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state >> 16;
  };
  return ["x", "y"].map(() => Array.from({ length: lines }, () => `kind ${next() % 5}\n`).join(""));
}

export async function* rows({ load, full }) {
  const { diff } = await load("engine/index.node.js");
  const small = [
    ["100 lines, 3 edits", textAndEditedText(100, 3)],
    ["1,000 lines, 5 edits", textAndEditedText(1_000, 5)],
    ["5,000 lines, 10 edits", textAndEditedText(5_000, 10)],
  ];
  const large = [
    ["5,000 lines, 1,000 edits", textAndEditedText(5_000, 1_000), 100],
    [full ? "5,000 lines rewritten" : "2,000 lines rewritten", unrelatedTexts(full ? 5_000 : 2_000), 1_000],
    [full ? "5,000 lines of 5 kinds" : "2,000 lines of 5 kinds", repetitiveTexts(full ? 5_000 : 2_000), 100],
  ];
  const theirs = ([before, after]) =>
    createTwoFilesPatch("a/f", "b/f", before, after, "", "", { context: 3 });

  for (const [name, texts] of small) {
    assertPatchApplies(diff, texts);
    const bytes = texts.map((text) => Buffer.from(text));
    yield {
      name: `${name}, Buffers`,
      goal: 8,
      ...(await compareShortCalls(
        () => diff(...bytes).text,
        () => theirs(texts),
      )),
    };
    yield {
      name: `${name}, strings`,
      goal: 5,
      ...(await compareShortCalls(
        () => diff(...texts).text,
        () => theirs(texts),
      )),
    };
  }
  for (const [name, texts, goal] of large) {
    assertPatchApplies(diff, texts);
    const bytes = texts.map((text) => Buffer.from(text));
    yield {
      name,
      goal,
      ...(await compareLongRuns(
        () => diff(...bytes).text,
        () => theirs(texts),
        { rounds: 3, warm: false },
      )),
    };
  }
  yield manyChangesRow(diff);
}

/**
 * The maximum time in milliseconds for a text of 100,000 lines of which a tenth is changed. There
 * is no peer, because jsdiff does not finish in seconds.
 */
const MAX_MANY_CHANGES_MS = 100;

function manyChangesRow(diff) {
  const [before, after] = textAndEditedText(100_000, 10_000).map((text) => Buffer.from(text));
  const times = Array.from({ length: 7 }, () => {
    const started = performance.now();
    if (diff(before, after).text === "") throw new Error("no difference was found");
    return performance.now() - started;
  });
  const ours_ms = median(times);
  return {
    name: "100,000 lines, 10,000 edits",
    ours_ms,
    limit_ms: MAX_MANY_CHANGES_MS,
    met: ours_ms < MAX_MANY_CHANGES_MS,
  };
}

/** Fails if jsdiff cannot apply our diff. */
function assertPatchApplies(diff, [before, after]) {
  assertSameResult("patched texts", applyPatch(before, diff(before, after).text) === after, true);
}
