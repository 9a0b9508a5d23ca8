/** The lines of an outline. */
import { escapeControls, plural } from "../../engine/escape.ts";
import type { OutlinedFile } from "../generated/types.ts";

/** Returns the lines of a file in an answer. */
export function outlineLines({ path: shown, definitions, total }: OutlinedFile): readonly string[] {
  const left = total - definitions.length;
  const head =
    left > 0
      ? `${escapeControls(shown)}  [${left} of ${plural(total, "definition")} left out]`
      : escapeControls(shown);
  return [
    head,
    ...definitions.map(
      ({ start_line, end_line, level, signature, from = String(start_line), to = String(end_line) }) => {
        const range = start_line === end_line ? from : `${from}-${to}`;
        return `${range}  ${"  ".repeat(level)}${escapeControls(signature)}`;
      },
    ),
  ];
}
