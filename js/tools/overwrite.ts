/** What an overwrite keeps of the file that it replaces, and what it says of the write. */
import type { WriteResult } from "../backends/backend.ts";
import { engine } from "../engine/current.ts";
import type { Eol } from "../engine/read.ts";
import { isTextKind } from "./contents.ts";
import { plural } from "./text.ts";

/** The form of a text file: all that its bytes have besides its text. */
export interface TextForm {
  /** In lower case. */
  readonly encoding: string;
  /** Whether a byte order mark stands at the beginning. */
  readonly bom: boolean;
  readonly eol: Eol | null;
}

/** The form of a text file; undefined for content that is no text. */
export function formOf(bytes: Uint8Array, name: string): TextForm | undefined {
  const { kind, encoding, bom, eol } = engine().inspect(bytes, { name });
  return isTextKind(kind) && encoding !== null ? { encoding, bom, eol } : undefined;
}

/** Names that mean the bytes of UTF-8, or a part of them. */
const UTF_8: ReadonlySet<string> = new Set(["utf-8", "utf8", "ascii", "us-ascii"]);

/** Whether an encoding has the bytes of UTF-8. */
export function isUtf8(encoding: string): boolean {
  return UTF_8.has(encoding.toLowerCase());
}

/** What was kept of a form that differs from UTF-8 with LF; undefined where nothing was. */
export function keptForm({ encoding, bom }: TextForm, crlf: boolean): string | undefined {
  const parts = [
    ...(isUtf8(encoding) ? [] : [encoding]),
    ...(bom ? ["the byte order mark"] : []),
    ...(crlf ? ["CRLF line ends"] : []),
  ];
  return parts.length === 0 ? undefined : `kept from the file: ${parts.join(", ")}`;
}

/** How large a content is: `lines` is left out where it is not text, or was not read. */
export interface Extent {
  readonly bytes: number;
  readonly lines?: number | undefined;
}

/** What an overwrite that shrinks a file says; undefined where it does not shrink. */
export function shrunk(before: Extent, after: Extent): string | undefined {
  if (after.bytes >= before.bytes) return undefined;
  return `the file shrank from ${shownExtent(before)} to ${shownExtent(after)}`;
}

function shownExtent({ bytes, lines }: Extent): string {
  return lines === undefined ? plural(bytes, "byte") : `${plural(lines, "line")}, ${plural(bytes, "byte")}`;
}

/** What to say of how a file was written: `name` is the file where there are several. */
export function writeWarnings({ inPlace, otherNames }: WriteResult, name?: string): readonly string[] {
  const prefix = name === undefined ? "" : `${name}: `;
  const warnings: string[] = [];
  if (inPlace === true)
    warnings.push(
      `${prefix}written in place, which is not atomic: no new file could take its place in the directory`,
    );
  if (otherNames !== undefined && otherNames > 0)
    warnings.push(
      `${prefix}the file had ${plural(otherNames, "other name")} (hard links), which ${
        otherNames === 1 ? "keeps" : "keep"
      } the old content`,
    );
  return warnings;
}
