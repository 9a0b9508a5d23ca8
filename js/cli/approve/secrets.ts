/** Hides text that looks like a secret in a question at a terminal, as the review page does. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { SelectablePart } from "../../hooks/terminal-view.ts";
import { hideSecrets } from "../../review/secrets/secret-text.ts";
import type { ChangeQuestion } from "./server.ts";
import { plural } from "../../engine/escape.ts";

/** The printed form of a question. */
export interface ShownSecrets {
  readonly question: ChangeQuestion;
  readonly parts: readonly SelectablePart[];
  /** The number of values that are hidden in it. */
  readonly hidden: number;
}

/** The dots in place of a hidden value, by the mark that `hideSecrets` puts there: three lengths, as on the page. */
const DOTS_BY_MARK: Readonly<Record<string, string>> = {
  "\uFDD0": "••••",
  "\uFDD1": "••••••••",
  "\uFDD2": "••••••••••••",
};

/** Returns a question and its parts with dots in place of what looks like a secret. Only for printing. */
export function withoutSecrets(question: ChangeQuestion, parts: readonly SelectablePart[]): ShownSecrets {
  let hidden = 0;
  const hide = (text: string, isDiff = false): string => {
    const found = hideSecrets(text, isDiff);
    hidden += found.hidden;
    return found.hidden === 0 ? text : withDots(found.text);
  };
  const shownParts = parts.map((part) => ({ ...part, lines: hideInDiff(part.lines, hide) }));
  const { args, fileDiff, title } = question.details;
  const details = withoutUndefined({
    ...question.details,
    // Parts are shown in place of the diff, which has the same lines.
    fileDiff: parts.length > 0 ? fileDiff : hideInDiff(fileDiff.split("\n"), hide).join("\n"),
    args: args && hideInArgs(args, hide),
  });
  // Usually the title repeats a value of the arguments, which is counted once.
  const shownTitle = hideSecrets(title);
  if (hidden === 0) hidden = shownTitle.hidden;
  return {
    question: { ...question, details: { ...details, title: withDots(shownTitle.text) } },
    parts: shownParts,
    hidden,
  };
}

/** Returns a title with dots in place of what looks like a secret. */
export function titleWithoutSecrets(title: string): string {
  return withDots(hideSecrets(title).text);
}

/** Returns how many values are hidden, in words. */
export function hiddenWords(count: number): string {
  return `${plural(count, "secret-looking value")} hidden`;
}

function withDots(text: string): string {
  return text.replaceAll(/[\uFDD0-\uFDD2]/gu, (mark) => DOTS_BY_MARK[mark] ?? mark);
}

type Hide = (text: string, isDiff?: boolean) => string;

/** Hides secrets in the rows of each hunk of a diff alone, as a key that ends in one hunk does not begin in another. */
function hideInDiff(lines: readonly string[], hide: Hide): readonly string[] {
  const shown: string[] = [];
  let rows: string[] | undefined;
  const endHunk = (): void => {
    if (rows !== undefined && rows.length > 0)
      for (const row of hide(rows.join("\n"), true).split("\n")) shown.push(row);
  };
  for (const line of lines) {
    if (line.startsWith("@@ ")) {
      endHunk();
      rows = [];
      shown.push(line);
    } else if (rows === undefined) shown.push(line);
    else rows.push(line);
  }
  endHunk();
  return shown;
}

/** Hides secrets in arguments, where the name of an argument says what its value is, as in `token: …`. */
function hideInArgs(args: Readonly<Record<string, unknown>>, hide: Hide): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      const line = `  ${name}: ${text}`;
      const shown = hide(line);
      return [name, shown === line ? value : shown.slice(line.length - text.length)];
    }),
  );
}
