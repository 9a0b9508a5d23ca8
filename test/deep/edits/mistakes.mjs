// The mistakes that models make when they send an edit, imitated. Each changes a case in place and
// returns whether it could. If two occur together, the one with the lower `stage` is applied first:
// mistakes about the file, then about lines, about their text, and about the transport.

const indentOf = (line) => /^[ \t]*/.exec(line)[0];
/** Returns whether the list has two different lines that are equal without the white space at their ends. */
const haveLinesEqualButForEnds = (lines) =>
  new Set(lines).size > new Set(lines.map((line) => line.trimEnd())).size;
export const isBlank = (line) => line.trim() === "";
export const isComment = (line) =>
  /^\s*(?:\/\/|\/\*|\*|#(?!\[|include|define|if|endif|else)|<!--|--)/.test(line);

/**
 * Returns the pairs of indexes of the lines that the old and the new text have in common, by
 * longest common subsequence.
 */
export function commonLinePairs({ old, new: made }) {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(made.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = made.length - 1; j >= 0; j--) {
      table[i][j] = old[i] === made[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < old.length && j < made.length; ) {
    if (old[i] === made[j]) pairs.push([i++, j++]);
    else if (table[i + 1][j] >= table[i][j + 1]) i++;
    else j++;
  }
  return pairs;
}

/**
 * Returns whether a pair of lines is also found when the texts are compared from the end. If not,
 * it is ambiguous which lines are kept.
 */
function isSurelyKept({ old, new: made }, [i, j]) {
  const backwards = commonLinePairs({ old: [...old].reverse(), new: [...made].reverse() });
  return backwards.some(([a, b]) => old.length - 1 - a === i && made.length - 1 - b === j);
}

/**
 * Returns whether `lines` occur consecutively in `all`, apart from white space at their beginnings
 * and ends.
 */
function occursIn(all, lines) {
  const text = (some) => some.map((line) => `${line.trim()}\n`).join("");
  return `\n${text(all)}`.includes(`\n${text(lines)}`);
}

/** Applies a function to every line of the old and new text that are sent. */
function changeSentLines(made, change) {
  made.old = made.old.map(change);
  made.new = made.new.map(change);
}

/** Returns the kept blank lines of the old and new text whose neighbours are kept, too. */
function blankPairsAmongKept(made) {
  const pairs = commonLinePairs(made);
  // Beside a changed line it is open whether a second blank line is meant.
  const isKept = (i, j) => pairs.some((pair) => pair[0] === i && pair[1] === j);
  return pairs.filter(([i, j]) => isBlank(made.old[i]) && isKept(i - 1, j - 1) && isKept(i + 1, j + 1));
}

/** Makes a mistake that is applied in this order of stages. */
export const mistakeOfStage = (stage, make) => ({ stage, make });

/** Returns a line with a typing error in one word; undefined if it has no suitable word. */
function withTypo(line, random) {
  const words = [...line.matchAll(/[A-Za-z]{5,}/g)];
  if (words.length === 0) return undefined;
  const word = random.pick(words);
  const at = word.index + 1 + random.below(word[0].length - 3);
  const [a, b] = [line[at], line[at + 1]];
  if (a === b) return undefined;
  const kinds = [
    line.slice(0, at) + b + a + line.slice(at + 2),
    line.slice(0, at) + line.slice(at + 1),
    line.slice(0, at) + a + line.slice(at),
  ];
  return random.pick(kinds);
}

/**
 * Mistakes after which it is still clear what the edit means. The matcher may make it or refuse it,
 * but must not make another change.
 */
export const MISTAKES = {
  exact: mistakeOfStage(0, () => true),
  crlf_file: mistakeOfStage(0, (made) => {
    made.eol = "\r\n";
    return true;
  }),
  bom: mistakeOfStage(0, (made) => {
    made.bom = "\ufeff";
    return true;
  }),
  spaces_for_tabs: mistakeOfStage(0, (made, random) => {
    const lines = [...made.before, ...made.file, ...made.after, ...made.right];
    const depths = lines.map((line) => indentOf(line)).filter((blanks) => blanks !== "");
    if (depths.length < 5) return false;
    if (!depths.every((blanks) => /^\t+$/.test(blanks))) {
      const unit = depths.every((blanks) => /^(?: {4})+$/.test(blanks))
        ? 4
        : depths.every((blanks) => /^(?: {2})+$/.test(blanks))
          ? 2
          : 0;
      if (unit === 0) return false;
      const tabbed = (line) => "\t".repeat(indentOf(line).length / unit) + line.trimStart();
      for (const side of ["before", "file", "after", "right", "old", "new"])
        made[side] = made[side].map(tabbed);
    }
    const width = random.pick([2, 4, 8]);
    if (!made.old.some((line) => line.startsWith("\t"))) return false;
    changeSentLines(made, (line) => " ".repeat(indentOf(line).length * width) + line.trimStart());
    return true;
  }),
  trailing_ws_file: mistakeOfStage(0, (made, random) => {
    const pairs = commonLinePairs(made).filter(([at]) => !isBlank(made.file[at]));
    if (pairs.length === 0) return false;
    for (const [i, j] of pairs.filter(() => random.chance(0.6)).concat([pairs[0]])) {
      if (/\s$/.test(made.file[i])) continue;
      made.file[i] += "  ";
      made.right[j] += "  ";
    }
    // If two lines differ only in white space at their ends, it is ambiguous which one is meant.
    return !haveLinesEqualButForEnds([...made.file, ...made.right]);
  }),
  dropped_line: mistakeOfStage(1, (made, random) => {
    // Next to an insertion it is ambiguous on which side the dropped line belongs.
    const pairs = commonLinePairs(made);
    const isOnce = (line) => [made.old, made.new].every((all) => all.indexOf(line) === all.lastIndexOf(line));
    const fine = pairs.filter(([i, j], at) => {
      const beside = [at - 1, at + 1].map((other) => pairs[other]);
      // If the lines around it occur again, it could belong next to the others.
      if (beside.some((pair) => pair !== undefined && !isOnce(made.old[pair[0]]))) return false;
      const together = beside.every(
        (pair) => pair !== undefined && pair[0] - i === pair[1] - j && Math.abs(pair[0] - i) === 1,
      );
      return (
        together &&
        (isComment(made.old[i]) || isBlank(made.old[i])) &&
        isSurelyKept(made, [i, j]) &&
        !beside.some(([other]) => isBlank(made.old[other]))
      );
    });
    if (fine.length === 0) return false;
    const [i, j] = random.pick(fine);
    made.old.splice(i, 1);
    made.new.splice(j, 1);
    return true;
  }),
  dropped_line_old_only: mistakeOfStage(1, (made, random) => {
    const fine = commonLinePairs(made).filter(
      ([i, j]) =>
        i > 0 && i < made.old.length - 1 && j > 0 && !isBlank(made.old[i]) && made.old[i].trim().length > 5,
    );
    if (fine.length === 0 || made.old.length < 5) return false;
    made.old.splice(random.pick(fine)[0], 1);
    // If the remaining lines occur together elsewhere, they mean that place.
    const text = [...made.before, ...made.file, ...made.after].join("\n");
    return (
      !text.includes(made.old.join("\n")) &&
      !occursIn(made.before, made.old) &&
      !occursIn(made.after, made.old)
    );
  }),
  elided_middle: mistakeOfStage(1, (made, random) => {
    const pairs = commonLinePairs(made);
    const runs = pairs.filter(
      ([i, j], at) =>
        [1, 2, 3].every((by) => pairs[at + by]?.[0] === i + by && pairs[at + by]?.[1] === j + by) && i > 0,
    );
    const run = runs.find(([i]) => i + 4 < made.old.length);
    if (run === undefined) return false;
    const dots = random.pick(["...", "// ...", "# ...", "// ... existing code ..."]);
    const line = indentOf(made.old[run[0]]) + dots;
    made.old.splice(run[0], 4, line);
    made.new.splice(run[1], 4, line);
    return true;
  }),
  reflow: mistakeOfStage(1, (made, random) => {
    const fine = commonLinePairs(made).filter(
      ([i]) => /^\s*\S.{20,}, \S/.test(made.old[i]) && !isComment(made.old[i]) && !/["'`]/.test(made.old[i]),
    );
    if (fine.length === 0) return false;
    const [i, j] = random.pick(fine);
    const line = made.old[i];
    const cut = line.indexOf(", ", 15) + 1;
    if (cut === 0) return false;
    const parts = [line.slice(0, cut), `${indentOf(line)}    ${line.slice(cut + 1)}`];
    made.old.splice(i, 1, ...parts);
    made.new.splice(j, 1, ...parts);
    return true;
  }),
  partial_edge: mistakeOfStage(1, (made) => {
    const pairs = commonLinePairs(made);
    if (pairs[0]?.[0] !== 0 || pairs[0]?.[1] !== 0) return false;
    const line = made.old[0];
    const cut = line.indexOf(" ", indentOf(line).length + 3) + 1;
    if (cut === 0 || line.length - cut < 8 || /\s/.test(line[cut])) return false; // A cut amid blanks would pass for an indentation.
    made.old[0] = line.slice(cut);
    made.new[0] = line.slice(cut);
    return true;
  }),
  typo_old_only: mistakeOfStage(2, (made, random) => {
    const at = random.below(made.old.length);
    const line = withTypo(made.old[at], random);
    if (line === undefined || made.file.includes(line)) return false;
    // A typing error in a word of the old text that the new text spells correctly.
    made.old[at] = line;
    return true;
  }),
  typo_both: mistakeOfStage(2, (made, random) => {
    const pairs = commonLinePairs(made);
    if (pairs.length === 0) return false;
    const [i, j] = random.pick(pairs);
    const line = withTypo(made.old[i], random);
    if (line === undefined || [...made.before, ...made.file, ...made.after].includes(line)) return false;
    made.old[i] = line;
    made.new[j] = line;
    return true;
  }),
  base_indent_shift: mistakeOfStage(3, (made, random) => {
    const by = " ".repeat(random.pick([1, 2, 3, 4, 8]));
    if (made.old.some((line) => line.startsWith("\t"))) return false;
    changeSentLines(made, (line) => (isBlank(line) ? line : by + line));
    return true;
  }),
  dedent_all: mistakeOfStage(3, (made) => {
    const blanks = [...made.old, ...made.new].filter((line) => !isBlank(line)).map(indentOf);
    const common = blanks.reduce((least, one) => (one.length < least.length ? one : least));
    if (common === "" || !blanks.every((one) => one.startsWith(common))) return false;
    changeSentLines(made, (line) => (isBlank(line) ? "" : line.slice(common.length)));
    return true;
  }),
  indent_old_only: mistakeOfStage(3, (made) => {
    const blanks = made.old.filter((line) => !isBlank(line)).map(indentOf);
    const common = blanks.reduce((least, one) => (one.length < least.length ? one : least));
    if (common === "" || !blanks.every((one) => one.startsWith(common))) return false;
    made.old = made.old.map((line) => (isBlank(line) ? "" : line.slice(common.length)));
    // If a line is now equal to one of the new text, it looks as if both texts were shifted.
    return !made.old.some((line) => !isBlank(line) && made.new.includes(line));
  }),
  trailing_ws_old: mistakeOfStage(3, (made, random) => {
    const blanks = random.pick([" ", "  ", "\t"]);
    changeSentLines(made, (line) => (isBlank(line) ? line : line + blanks));
    made.new = made.new.map((line) => line.slice(0, isBlank(line) ? undefined : -blanks.length));
    // If the file has the same white space, the edit means to remove it.
    return !made.old.some((line) => !isBlank(line) && made.file.includes(line));
  }),
  edge_blank: mistakeOfStage(3, (made, random) => {
    const [head, tail] = [random.below(2), random.below(3)];
    if (
      head + tail === 0 ||
      isBlank(made.old[0]) ||
      isBlank(made.old.at(-1)) ||
      isBlank(made.new[0] ?? "") ||
      isBlank(made.new.at(-1) ?? "")
    )
      return false;
    for (const side of ["old", "new"])
      made[side] = [...Array(head).fill(""), ...made[side], ...Array(tail).fill("")];
    return true;
  }),
  smart_quotes: mistakeOfStage(4, (made, random) => {
    if (!made.old.some((line) => /["']/.test(line)) || made.file.some((line) => /[\u2018-\u201d]/.test(line)))
      return false;
    const curl = (line) => line.replace(/"([^"]*)"/g, "\u201c$1\u201d").replace(/'/g, "\u2019");
    made.old = made.old.map(curl);
    if (random.chance(0.5)) made.new = made.new.map(curl);
    return made.old.some((line) => /[\u2018-\u201d]/.test(line));
  }),
  lineno_prefix: mistakeOfStage(5, (made, random) => {
    const style = random.pick([
      (n, line) => `${String(n).padStart(6)}\t${line}`,
      (n, line) => `${n}: ${line}`,
      (n, line) => `${n}|${line}`,
      (n, line) => `${String(n).padStart(5)}\u2192${line}`,
      (n, line) => `${String(n).padStart(4)} | ${line}`,
    ]);
    const first = made.before.length + 1;
    made.old = made.old.map((line, at) => style(first + at, line));
    if (random.chance(0.5)) made.new = made.new.map((line, at) => style(first + at, line));
    return true;
  }),
  escaped_quotes: mistakeOfStage(5, (made) => {
    if (
      !made.old.some((line) => line.includes('"')) ||
      [...made.old, ...made.new].some((line) => line.includes('\\"'))
    )
      return false;
    changeSentLines(made, (line) => line.replaceAll('"', '\\"'));
    return true;
  }),
  doubled_backslashes: mistakeOfStage(5, (made) => {
    if (
      !made.old.some((line) => line.includes("\\")) ||
      [...made.old, ...made.new].some((line) => line.includes("\\\\"))
    )
      return false;
    changeSentLines(made, (line) => line.replaceAll("\\", "\\\\"));
    return true;
  }),
  html_entities: mistakeOfStage(5, (made) => {
    if (
      !made.old.some((line) => /[<>&]/.test(line)) ||
      [...made.old, ...made.new].some((line) => /&(?:lt|gt|amp|quot);/.test(line))
    )
      return false;
    changeSentLines(made, (line) =>
      line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    );
    return true;
  }),
  crlf_sent: mistakeOfStage(6, (made) => {
    made.join = (lines) => lines.join("\r\n");
    return made.eol === "\n";
  }),
  trimmed_lines: mistakeOfStage(3, (made) => {
    // All lines lose their indentation in the old text only.
    if (!made.old.some((line) => /^\s+\S/.test(line))) return false;
    const before = made.old;
    made.old = before.map((line) => line.trim());
    // If a line is now equal to one of the new text, it looks as if both texts were shifted.
    const isAlike = made.old.some(
      (line, at) => line !== before[at] && /\w/.test(line) && made.new.includes(line),
    );
    return !isAlike && made.old.join("").length > 30;
  }),
  nbsp_old: mistakeOfStage(4, (made, random) => {
    const at = made.old.findIndex((line) => /\S [A-Za-z]/.test(line));
    if (at < 0 || made.file.some((line) => line.includes("\u00a0"))) return false;
    made.old[at] = made.old[at].replace(/(\S) ([A-Za-z])/, random.pick(["$1\u00a0$2", "$1\u2009$2"]));
    return true;
  }),
  extra_blank: mistakeOfStage(1, (made) => {
    // Adds a blank line between two lines that are kept.
    const pairs = commonLinePairs(made);
    const at = pairs.findIndex(([i, j], n) => {
      const next = pairs[n + 1];
      const beside = next?.[0] === i + 1 && next?.[1] === j + 1;
      return beside && !isBlank(made.old[i]) && !isBlank(made.old[i + 1]);
    });
    if (at < 0) return false;
    made.old.splice(pairs[at][0] + 1, 0, "");
    made.new.splice(pairs[at][1] + 1, 0, "");
    return true;
  }),
  joined_lines: mistakeOfStage(1, (made) => {
    // Sends two lines that are kept as one.
    const pairs = commonLinePairs(made);
    const at = pairs.findIndex(([i, j], n) => {
      const next = pairs[n + 1];
      const beside = next?.[0] === i + 1 && next?.[1] === j + 1;
      return beside && /,\s*$/.test(made.old[i]) && !isBlank(made.old[i + 1]) && !isComment(made.old[i + 1]);
    });
    if (at < 0) return false;
    const [i, j] = pairs[at];
    const line = `${made.old[i].trimEnd()} ${made.old[i + 1].trim()}`;
    made.old.splice(i, 2, line);
    made.new.splice(j, 2, line);
    return true;
  }),
  inner_blanks: mistakeOfStage(2, (made) => {
    const squeeze = (line) => indentOf(line) + line.trim().replace(/([^\s=])\s+([=+])\s+(?=\S)/g, "$1$2");
    const pairs = commonLinePairs(made).filter(([i]) => squeeze(made.old[i]) !== made.old[i].trimEnd());
    if (pairs.length === 0) return false;
    for (const [i, j] of pairs) made.old[i] = made.new[j] = squeeze(made.old[i]);
    // If the lines occur elsewhere in the form in which they are sent, they mean that place.
    return !occursIn(made.before, made.old) && !occursIn(made.after, made.old);
  }),
  lost_semicolon: mistakeOfStage(2, (made, random) => {
    const pairs = commonLinePairs(made).filter(([i]) => /\w\W*[;,]$/.test(made.old[i]));
    if (pairs.length === 0) return false;
    const [i, j] = random.pick(pairs);
    const line = made.old[i].slice(0, -1);
    if ([...made.before, ...made.file, ...made.after].includes(line)) return false;
    made.old[i] = made.new[j] = line;
    return true;
  }),
  cut_in_mid_line: mistakeOfStage(1, (made) => {
    // Sends the last line only up to one of its words.
    const pairs = commonLinePairs(made);
    const [i, j] = pairs.at(-1) ?? [];
    if (i !== made.old.length - 1 || j !== made.new.length - 1) return false;
    const line = made.old[i];
    const cut = line.indexOf(" ", indentOf(line).length + 8);
    if (cut < 0 || line.length - cut < 4 || made.old.length < 3) return false;
    made.old[i] = made.new[j] = line.slice(0, cut);
    return true;
  }),
  inside_lines: mistakeOfStage(1, (made, random) => {
    // Sends the first line from somewhere inside on, and the last one only up to somewhere inside.
    const pairs = commonLinePairs(made);
    const last = [made.old.length - 1, made.new.length - 1];
    if (made.old.length < 3 || pairs[0]?.join() !== "0,0" || pairs.at(-1)?.join() !== last.join())
      return false;
    const cut = random.pick([/\b\w/g, /\w/g]);
    const wordsOf = (line) => [...line.trimEnd().matchAll(cut)].map(({ index }) => index);
    const [first, end] = [made.old[0], made.old[last[0]]];
    const from = random.pick(
      wordsOf(first).filter((at) => at > indentOf(first).length && first.length - at >= 6),
    );
    const upto = random.pick(wordsOf(end).filter((at) => at >= indentOf(end).length + 6));
    if (from === undefined || upto === undefined) return false;
    made.old[0] = made.new[0] = first.slice(from);
    made.old[last[0]] = made.new[last[1]] = end.slice(0, upto).trimEnd();
    return true;
  }),
  doubled_blank: mistakeOfStage(1, (made, random) => {
    // Sends a blank line twice that the file has once and the edit keeps.
    const pairs = blankPairsAmongKept(made);
    if (pairs.length === 0) return false;
    const [i, j] = random.pick(pairs);
    made.old.splice(i, 0, "");
    made.new.splice(j, 0, "");
    return true;
  }),
  extra_blank_old: mistakeOfStage(1, (made, random) => {
    // Adds a blank line to the old text only, where the new text has none beside the same lines.
    const at = 1 + random.below(Math.max(made.old.length - 1, 1));
    if (at >= made.old.length || isBlank(made.old[at - 1]) || isBlank(made.old[at])) return false;
    const beside = [made.old[at - 1], made.old[at]];
    const isThere = made.new.some(
      (line, index) =>
        isBlank(line) && (made.new[index - 1] === beside[0] || made.new[index + 1] === beside[1]),
    );
    if (isThere) return false;
    made.old.splice(at, 0, "");
    return true;
  }),
  doubled_blank_old: mistakeOfStage(1, (made, random) => {
    // Sends a blank line twice in the old text only.
    const pairs = blankPairsAmongKept(made);
    if (pairs.length === 0) return false;
    made.old.splice(random.pick(pairs)[0], 0, "");
    return true;
  }),
  escaped_newline: mistakeOfStage(6, (made) => {
    if ([...made.old, ...made.new].some((line) => line.includes("\\"))) return false;
    made.join = (lines) => lines.join("\\n");
    return true;
  }),
};
