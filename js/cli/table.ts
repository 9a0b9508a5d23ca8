/** Tables that fit: columns as wide as what they hold, the last cut where the terminal ends. */
import process from "node:process";

/** How wide standard output is, in columns; undefined where it is no terminal. */
export function widthOfOutput(): number | undefined {
  return process.stdout.isTTY === true ? process.stdout.columns : undefined;
}

/** The width of a text in code points: names are escaped before they come here. */
const lengthOf = (text: string): number => [...text].length;

/** Rows as lines. */
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
