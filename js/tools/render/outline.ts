/** The lines of an outline. */
import { escapeControls, plural } from "../../engine/escape.ts";
import type { OutlinedDefinition, OutlinedFile } from "../generated/types.ts";

/** Returns the lines of a file in an answer. */
export function outlineLines(file: OutlinedFile): readonly string[] {
  return [headLine(file, file.definitions.length), ...file.definitions.map(definitionLine)];
}

/** Returns the first line of a file of which some definitions are given. */
export function headLine({ path: shown, total }: OutlinedFile, given: number): string {
  const left = total - given;
  return left > 0
    ? `${escapeControls(shown)}  [${left} of ${plural(total, "definition")} left out]`
    : escapeControls(shown);
}

/** Returns the line of a definition. */
export function definitionLine(one: OutlinedDefinition): string {
  const { start_line, end_line, level, signature, from = String(start_line), to = String(end_line) } = one;
  const range = start_line === end_line ? from : `${from}-${to}`;
  return `${range}  ${"  ".repeat(level)}${escapeControls(signature)}`;
}
