// Texts to compare, the same in every row that compares texts.

/** One line as of a program. */
const line = (seed, i) =>
  `  const value${i} = compute(${(i * 7919) % 9973}, "${seed}", options.${seed}${i % 31});\n`;

/** A text of so many lines, and the same with so many of them changed, evenly apart. */
export function pair(lines, edits) {
  const before = Array.from({ length: lines }, (_, i) => line("a", i));
  const after = [...before];
  const step = Math.floor(lines / edits);
  for (let i = 0; i < edits; i++) after[i * step + (step >> 1)] = line("b", i * 13 + 1);
  return [before.join(""), after.join("")];
}

/** Two texts of so many lines that share none. */
export const rewrite = (lines) =>
  ["a", "b"].map((seed) => Array.from({ length: lines }, (_, i) => line(seed, i)).join(""));
