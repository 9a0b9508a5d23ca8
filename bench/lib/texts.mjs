// Generates the texts that rows compare.

/** Returns a line that looks like program text. */
const programLine = (seed, i) =>
  `  const value${i} = compute(${(i * 7919) % 9973}, "${seed}", options.${seed}${i % 31});\n`;

/**
 * Returns a text of `lines` lines, and the same text with `edits` of them changed at even
 * distances.
 */
export function textAndEditedText(lines, edits) {
  const before = Array.from({ length: lines }, (_, i) => programLine("a", i));
  const after = [...before];
  const step = Math.floor(lines / edits);
  for (let i = 0; i < edits; i++) after[i * step + (step >> 1)] = programLine("b", i * 13 + 1);
  return [before.join(""), after.join("")];
}

/** Returns two texts of `lines` lines that have no line in common. */
export const unrelatedTexts = (lines) =>
  ["a", "b"].map((seed) => Array.from({ length: lines }, (_, i) => programLine(seed, i)).join(""));
