/** Formats tables: columns as wide as their content, the last one truncated at the terminal's width. */
import process from "node:process";

/** Returns the width of standard output, in columns; undefined when it is no terminal. */
function widthOfOutput(): number | undefined {
  return process.stdout.isTTY === true ? process.stdout.columns : undefined;
}

/** Returns the width of a text in code points: names are escaped before. */
const lengthOf = (text: string): number => [...text].length;

/** Formats rows as lines. */
export function tableOf(
  rows: readonly (readonly string[])[],
  width: number | undefined = widthOfOutput(),
): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.slice(0, -1).entries())
      widths[at] = Math.max(widths[at] ?? 0, lengthOf(cell));
  return rows
    .map((row) => {
      const line = row
        .map((cell, at) =>
          at === row.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - lengthOf(cell)),
        )
        .join("  ")
        .trimEnd();
      const points = [...line];
      return width === undefined || points.length <= width ? line : `${points.slice(0, width - 1).join("")}…`;
    })
    .join("\n");
}
