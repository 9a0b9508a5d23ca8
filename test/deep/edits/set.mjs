// Makes cases for the edit matcher: hunks of real code that are sent with the mistakes that models
// make.
import { CORRUPTIONS } from "./corruptions.mjs";
import { MISTAKES } from "./mistakes.mjs";

/**
 * Returns the case of a hunk without a mistake: the lines of the file, the lines that are sent, and
 * the right result.
 */
function caseOfHunk(hunk) {
  const { before, after, old, made } = hunk;
  const copy = (lines) => [...lines];
  return {
    src: hunk.src,
    before: copy(before),
    after: copy(after),
    // `file` and `right` are the replaced lines of the file and the right result; `old` and `new`
    // are what is sent, which mistakes change.
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

/** Returns a case in the form of the scorer; undefined if the mistakes made it meaningless. */
function scorerCase(kind, id, made) {
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
    // The lines of the file that the edit means, also if it must be refused.
    meant: made.current ?? made.file,
    eol: made.eol,
  };
}

/** Returns every two mistakes of different stages, in random order. */
function mistakePairs(random) {
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

/** Returns the number of cases of each mistake that gives about `count` cases in total. */
export const casesPerMistakeFor = (count) => Math.max(1, Math.round(count / 127));

/**
 * Yields `each` cases of every mistake alone, and a quarter as many of every two mistakes together.
 */
export function* editCases(sortedHunks, random, each) {
  const hunks = random.shuffle(sortedHunks);
  const alone = Object.entries({ ...MISTAKES, ...CORRUPTIONS }).map(([name, mistake]) => [name, [mistake]]);
  let next = 0;
  for (const [kind, mistakes] of [...alone, ...mistakePairs(random)]) {
    const wanted = mistakes.length > 1 ? Math.ceil(each / 4) : each;
    let found = 0;
    for (let tries = 0; tries < hunks.length && found < wanted; tries++) {
      const made = caseOfHunk(hunks[next++ % hunks.length]);
      if (!mistakes.every((mistake) => mistake.make(made, random, hunks))) continue;
      const line = scorerCase(kind, `${kind}-${found}`, made);
      if (line === undefined) continue;
      yield line;
      found++;
    }
  }
}
