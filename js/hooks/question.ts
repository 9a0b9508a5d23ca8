/**
 * Parts of a question to a reviewer: the paths that it covers, a digest of everything that the answer depends on,
 * and the lines that are shown.
 */
import { escapeControls } from "../engine/escape.ts";
import { fromBase64 } from "../engine/wire/bytes.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { ChangeSummary } from "./changed-files.ts";

/** The parts of a question that are shown line by line. */
export interface ShownQuestion {
  readonly fileDiff: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly changes?: readonly ChangeSummary[];
  readonly newContentBase64?: string;
}

/** One line of a question, not escaped yet. `diff`: a line of the unified diff. `detail`: any other line. */
export interface QuestionLine {
  readonly text: string;
  readonly part: "diff" | "detail";
}

/**
 * Returns `sha256:` of everything in `parts`. @throws FilewrightError INVALID_ARGUMENT for values
 * that are not plain data
 */
export function digestOfParts(parts: readonly unknown[]): string {
  let text: string;
  try {
    text = JSON.stringify(parts, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  } catch (cause) {
    throw new FilewrightError("INVALID_ARGUMENT", "The arguments are not plain data.", {
      complete: true,
      cause,
    });
  }
  return engine().sha256(new TextEncoder().encode(text));
}

/**
 * Returns the whole question in lines: its arguments, or its diff, the bytes of binary content,
 * and the paths that neither of them names. Nothing is truncated here.
 */
export function questionLines(question: ShownQuestion): readonly QuestionLine[] {
  const { fileDiff, args, changes = [], newContentBase64 } = question;
  if (args !== undefined) {
    return Object.entries(args).map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      return detailLine(`  ${name}: ${text}`);
    });
  }
  const lines: QuestionLine[] = [];
  const [only] = changes;
  if (changes.length > 1 || only?.mode !== undefined) lines.push(...changes.map(changeLine));
  if (newContentBase64 !== undefined) lines.push(...hexDumpLines(newContentBase64));
  else if (fileDiff !== "") {
    for (const text of fileDiff.replace(/\n$/u, "").split("\n")) lines.push({ text, part: "diff" });
  }
  return lines;
}

/** Returns a line that is not part of the diff. */
function detailLine(text: string): QuestionLine {
  return { text, part: "detail" };
}

/** Returns a line such as `  delete file /w/a` or `  move dir /w/a -> /w/b`. */
function changeLine({ path, kind, type, from, mode }: ChangeSummary): QuestionLine {
  const place = from === undefined ? path : `${from} -> ${path}`;
  return detailLine(`  ${kind} ${type} ${place}${mode === undefined ? "" : ` (mode ${mode})`}`);
}

/** The number of bytes that one line of a hexadecimal dump shows. */
const BYTES_PER_DUMP_LINE = 16;

/** Formats bytes like `hexdump -C`: offset, bytes, and the printable ones as characters. */
function hexDumpLines(base64: string): readonly QuestionLine[] {
  const bytes = fromBase64(base64);
  const lines: QuestionLine[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_DUMP_LINE) {
    const some = [...bytes.subarray(at, at + BYTES_PER_DUMP_LINE)];
    const hex = some.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = some
      .map((byte) => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : "."))
      .join("");
    lines.push(
      detailLine(
        `  ${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * BYTES_PER_DUMP_LINE - 1)}  ${text}`,
      ),
    );
  }
  return lines;
}

/** Escapes one line for printing: every control character except tabs. */
export function escapeForPrinting(text: string): string {
  return text.split("\t").map(escapeControls).join("\t");
}
