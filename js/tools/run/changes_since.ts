/** The search of `changes_since`. It is loaded with its first call. */
import { isWithin } from "../../backends/paths.ts";
import { engine } from "../../engine/current.ts";
import { fromEngine } from "../../engine/errors.ts";
import { type ReplacedRange, replacedRanges } from "../../engine/text/diff.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { changesText, withoutLast } from "../render/changes.ts";
import { diffContentsAsync } from "../render/preview.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { ChangesSinceData, FileChange } from "../generated/types.ts";
import {
  authorText,
  changedLinesText,
  madeBy,
  type PresentContent,
  presentContent,
  whoText,
} from "../lib/changed.ts";
import { linesWithoutEndings, statOrNull } from "../lib/contents.ts";
import { lineHashesOf } from "../lib/line-hashes.ts";
import { rangesAfterChange } from "../lib/line-ranges.ts";
import type { PathSince } from "../lib/past.ts";
import { encodeUtf8 } from "../lib/text.ts";
import { NOTE_TOKENS, TokenRoom } from "../lib/tokens.ts";
import type { Answer, Call } from "../lib/tool.ts";

type Args = CheckedArgs["changes_since"];

/** The characters above which a shown line is cut. */
const MAX_LINE_CHARS = 500;

/** A changed file, before its change is shown. */
interface Changed {
  readonly path: string;
  /** The file as it is now; null for none. */
  readonly now: PresentContent | null;
  /** Who changed it, for a text. */
  readonly by: string;
  /** The hash of the content that the caller knows; undefined where that is another one. */
  readonly knownHash: string | undefined;
  /** The content before; null for no file, undefined where it is not known. */
  readonly before: Uint8Array | null | undefined;
}

/** Answers a call of `changes_since`. */
export async function runChanges(args: Args, call: Call): Promise<Answer<ChangesSinceData>> {
  const root = call.locations[0]!.path;
  const unread: string[] = [];
  const found = args.since === "read" ? sinceRead(root, call) : sincePlace(args, root, call);
  const files: ShownChange[] = [];
  const yielder = new Yielder({ signal: call.signal });
  for (const look of await found) {
    await yielder.yieldIfDue();
    try {
      const changed = await look.changed();
      if (changed === "unknown") unread.push(call.reader.display(look.path));
      else if (changed !== undefined) files.push(await shownChange(changed, call));
    } catch (thrown) {
      if (fromEngine(thrown).code === "CANCELLED") throw thrown;
      unread.push(call.reader.display(look.path));
    }
  }
  files.sort((a, b) => (a.file.path < b.file.path ? -1 : 1));
  const data = within(args.max_tokens, files, unread, call);
  const whole = new Set(data.files.filter((one) => one.first_line === undefined).map(({ path }) => path));
  for (const { file, note } of files) if (whole.has(file.path)) note();
  return { data };
}

/** A path that may have changed. */
interface Look {
  readonly path: string;
  /** Returns its change; undefined where there is none. @throws FilewrightError where it cannot be read */
  changed(): Promise<Changed | "unknown" | undefined>;
}

/** Returns the files that the caller has read, at and below a path. */
async function sinceRead(root: string, call: Call): Promise<readonly Look[]> {
  await call.seen.refresh?.(root, true);
  return call.seen
    .below(root)
    .filter(call.reach.mayTell)
    .map((path) => ({ path, changed: () => changedSinceRead(path, call) }));
}

async function changedSinceRead(path: string, call: Call): Promise<Changed | "unknown" | undefined> {
  const seen = call.seen.recall(path);
  const stat = await statOrNull(call.fs, path);
  if (seen === undefined || (stat?.version !== undefined && stat.version === seen.version)) return undefined;
  const now = stat?.isFile === true ? await presentContent(call, path) : null;
  const { hash: knownHash } = seen;
  // A content of which only the version is known may be the same.
  if (now !== null && knownHash === undefined) return "unknown";
  if (now !== null && now.hash === knownHash) return undefined;
  const by = whoText(await madeBy(call, path, now?.hash ?? null));
  const before = knownHash === undefined ? undefined : await call.past().contentBefore(path, knownHash);
  return { path, now, by, knownHash, before };
}

/** Returns the files that recorded calls changed since a mark or a call, at and below a path. */
async function sincePlace({ since, by: whose }: Args, root: string, call: Call): Promise<readonly Look[]> {
  const found = await call.past().since(since, whose === "all");
  return found
    .filter(({ path }) => isWithin(path, root) && call.reach.mayTell(path))
    .map((one) => ({ path: one.path, changed: () => changedSincePlace(one, call) }));
}

async function changedSincePlace(one: PathSince, call: Call): Promise<Changed | undefined> {
  const { path } = one;
  const by = authorText(one.by);
  const stat = await statOrNull(call.fs, path);
  if (stat?.isFile === false) return undefined;
  const now = stat === null ? null : await presentContent(call, path);
  const before = await one.before();
  const hash = before instanceof Uint8Array ? engine().sha256(before) : before;
  // Not known before is no content that the file has now.
  if (hash !== undefined && hash === (now?.hash ?? null)) return undefined;
  const knownHash = typeof hash === "string" && hash === call.seen.recall(path)?.hash ? hash : undefined;
  return { path, now, by, knownHash, before };
}

/** A change with its hunks. */
interface ShownChange {
  readonly file: FileChange;
  readonly hunks: readonly Hunk[];
  /** Records the lines as read, once all hunks are shown. */
  note(): void;
}

/** Some lines of a change. */
interface Hunk {
  /** The first line in the present file. */
  readonly line: number;
  readonly text: string;
}

/** What of a change can be shown. */
interface Hunks {
  readonly hunks: readonly Hunk[];
  readonly replaced: readonly ReplacedRange[];
  /** True when a long line is cut, so that the change is not shown completely. */
  readonly isCut: boolean;
}

async function shownChange(changed: Changed, call: Call): Promise<ShownChange> {
  const { path, now, by, knownHash, before } = changed;
  const what = now === null ? "gone" : before === null ? "new" : "changed";
  const file = { path: call.reader.display(path), what, by } as const;
  if (now === null) return { file, hunks: [], note: () => call.seen.note(path, undefined) };
  const { bytes, hash, version } = now;
  const lineHashes = bytes === undefined ? null : await lineHashesOf(bytes, call.signal);
  // What is not text, or too large, has no lines.
  if (bytes === undefined || lineHashes === null)
    return { file: { ...file, first_line: 1 }, hunks: [], note() {} };
  const known = knownHash === undefined ? undefined : call.seen.lineHashes.of(knownHash);
  const shown = await hunksOf(bytes, before, known, lineHashes);
  const seen = call.seen.recall(path);
  const lines = changedLinesText(known, lineHashes);
  return {
    file: withoutUndefined({ ...file, lines, first_line: shown === undefined ? 1 : undefined }),
    hunks: shown?.hunks ?? [],
    note() {
      if (shown === undefined || shown.isCut || knownHash === undefined || seen === undefined) return;
      const after = seen.lines === undefined ? undefined : rangesAfterChange(seen.lines, shown.replaced);
      call.seen.note(path, version, hash, after);
      call.seen.lineHashes.keep(hash, lineHashes);
    },
  };
}

/** Returns the hunks of a change: from the content before, or else the lines of the present one that are new. */
async function hunksOf(
  bytes: Uint8Array,
  before: Uint8Array | null | undefined,
  known: string | null | undefined,
  lineHashes: string,
): Promise<Hunks | undefined> {
  if (before !== undefined) {
    const limits = { line: MAX_LINE_CHARS };
    const { hunks, text, truncated } = await diffContentsAsync(before ?? EMPTY_BYTES, bytes, { limits });
    // A line of a hunk begins with a marker, and only a line feed ends it.
    const texts = text.split(/(?<=\n)(?=@@ )/u).slice(1);
    return {
      hunks: texts.map((one, at) => ({ line: hunks[at]?.newStart ?? 1, text: one.replace(/\n$/u, "") })),
      replaced: replacedRanges(hunks),
      isCut: truncated,
    };
  }
  if (typeof known !== "string") return undefined;
  const replaced = engine()
    .hunksBetween(encodeUtf8(known), encodeUtf8(lineHashes))
    .flatMap(({ changes }) => changes)
    .map(({ oldStart, oldLines, newStart, newLines }) => ({
      ...{ oldLines, newLines },
      oldStart: oldLines === 0 ? oldStart : oldStart + 1,
      newStart: newLines === 0 ? newStart : newStart + 1,
    }));
  const { text } = await engine().reading.decodeText(bytes);
  const lines = linesWithoutEndings(text);
  const isCut = replaced.some(({ newStart, newLines }) =>
    lines.slice(newStart - 1, newStart - 1 + newLines).some((line) => line.length > MAX_LINE_CHARS),
  );
  return { replaced, isCut, hunks: replaced.map((range) => presentHunk(range, lines)) };
}

/** Returns the present lines that replace others, with their numbers. */
function presentHunk({ oldLines, newStart, newLines }: ReplacedRange, lines: readonly string[]): Hunk {
  if (newLines === 0)
    return { line: Math.max(1, newStart), text: `[${oldLines} removed after line ${newStart}]` };
  const shown = lines
    .slice(newStart - 1, newStart - 1 + newLines)
    .map((line, at) => `${newStart + at}\t${cutLine(line)}`);
  return { line: newStart, text: shown.join("\n") };
}

/** Returns at most {@link MAX_LINE_CHARS} UTF-16 units of a line, and no half of a pair. */
const cutLine = (line: string): string =>
  line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS).replace(/[\uD800-\uDBFF]$/u, "")}…`;

/** Returns the data with as many hunks as fit, in the order of the files. A smaller one may fit after one that did not. */
function within(
  most: number,
  changes: readonly ShownChange[],
  unread: readonly string[],
  call: Call,
): ChangesSinceData {
  const { tokens: count } = call.settings;
  const { names } = call.reader;
  const room = new TokenRoom({ most: most - NOTE_TOKENS, count });
  const heads = changes.filter(({ file }) =>
    room.take(
      changesText({ files: [{ ...file, first_line: 1 }], truncated: false, left_out: 0, unread: [] }, names),
    ),
  );
  const files = heads.map(({ file, hunks }) => {
    const shown: string[] = [];
    let next: Hunk | undefined;
    for (const hunk of hunks) {
      if (!room.take(hunk.text)) {
        next = hunk;
        break;
      }
      shown.push(hunk.text);
    }
    const text = shown.length === 0 ? undefined : shown.join("\n");
    return withoutUndefined({ ...file, shown: text, first_line: next?.line ?? file.first_line });
  });
  const isCut = heads.length < changes.length || files.some(({ first_line: line }) => line !== undefined);
  const leftOut = changes.length - heads.length;
  let data: ChangesSinceData = { files, truncated: isCut, left_out: leftOut, unread };
  while (data.files.length > 0 && count(changesText(data, names)) > most - NOTE_TOKENS)
    data = withoutLast(data);
  return data;
}
