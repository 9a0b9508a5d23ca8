/**
 * What a question carries besides its words: the paths that it covers, a digest of
 * everything that an answer rests upon, and the lines in which a reviewer sees it.
 */
import { escapeControls } from "../engine/escape.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";

/** One path that a question covers. */
export interface ConfirmedChange {
  /** Absolute. */
  readonly path: string;
  readonly kind: "create" | "edit" | "delete" | "move" | "copy";
  readonly type: "file" | "dir" | "symlink" | "other";
  /** Where it comes from, of what is moved or copied. */
  readonly from?: string;
  /** `sha256:` of the new content, where that is known. */
  readonly hash?: string;
  /** The new permission bits in octal, where the call sets them. */
  readonly mode?: string;
}

/** What of a question is shown line by line. */
export interface ShownQuestion {
  readonly fileDiff: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly changes?: readonly ConfirmedChange[];
  readonly newContentBase64?: string;
}

/** One line of a question: as it is to be escaped, and what it belongs to. */
export interface QuestionLine {
  readonly text: string;
  readonly part: "diff" | "detail";
}

/** `sha256:` of everything in `parts`. @throws FilewrightError INVALID_ARGUMENT for what is not plain data */
export function digestOf(parts: readonly unknown[]): string {
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
 * The whole of a question in lines: its arguments, or its diff, the bytes of what is not
 * text, and the paths that neither of them names. Nothing is cut here.
 */
export function questionLines(question: ShownQuestion): readonly QuestionLine[] {
  const { fileDiff, args, changes = [], newContentBase64 } = question;
  if (args !== undefined) {
    return Object.entries(args).map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      return detail(`  ${name}: ${text}`);
    });
  }
  const lines: QuestionLine[] = [];
  const [only] = changes;
  if (changes.length > 1 || only?.mode !== undefined) lines.push(...changes.map(changeLine));
  if (newContentBase64 !== undefined) lines.push(...hexLines(newContentBase64));
  else if (fileDiff !== "") {
    for (const text of fileDiff.replace(/\n$/u, "").split("\n")) lines.push({ text, part: "diff" });
  }
  return lines;
}

function detail(text: string): QuestionLine {
  return { text, part: "detail" };
}

/** Such as `  delete file /w/a` or `  move dir /w/a -> /w/b`. */
function changeLine({ path, kind, type, from, mode }: ConfirmedChange): QuestionLine {
  const place = from === undefined ? path : `${from} -> ${path}`;
  return detail(`  ${kind} ${type} ${place}${mode === undefined ? "" : ` (mode ${mode})`}`);
}

/** Bytes of one line of a dump. */
const DUMP_WIDTH = 16;

/** Bytes as `hexdump -C` shows them: offset, bytes, and the printable ones as characters. */
function hexLines(base64: string): readonly QuestionLine[] {
  const binary = atob(base64);
  const lines: QuestionLine[] = [];
  for (let at = 0; at < binary.length; at += DUMP_WIDTH) {
    const some = [...binary.slice(at, at + DUMP_WIDTH)];
    const hex = some.map((one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
    const text = some.map((one) => (one >= " " && one <= "~" ? one : ".")).join("");
    lines.push(detail(`  ${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * DUMP_WIDTH - 1)}  ${text}`));
  }
  return lines;
}

/** One line as it may be printed: tabs stay, every other control character is escaped. */
export function printable(text: string): string {
  return text.split("\t").map(escapeControls).join("\t");
}
