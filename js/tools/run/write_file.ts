/** The plan of `write_file`. It is loaded after a workspace opens, or by the first call. */
import type { Location } from "../../policy/index.ts";
import type { FsStat } from "../../backends/backend.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { Yielder } from "../../engine/yielder.ts";
import { engine } from "../../engine/current.ts";
import { MIN_THREAD_BYTES } from "../../engine/threads.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { fromBase64 } from "../../engine/wire/bytes.ts";
import {
  phraseIfNamed,
  set,
  setPhrase,
  type Call,
  type Plan,
  type Proposal,
  locationError,
} from "../lib/tool.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { closingTagWarning } from "../lib/call-form.ts";
import {
  findOmissionsAsync,
  type Omission,
  omissionError,
  omissionWarnings,
  wholeContentRemedy,
} from "../lib/omission.ts";
import {
  dominantEol,
  textFormOf,
  isUtf8,
  keptFormPhrase,
  lineCountOf,
  shrunkWarning,
  type FileTextForm,
  withEol,
  pastedAnswerWarning,
} from "../lib/overwrite.ts";
import {
  assertExpectedHash,
  assertFile,
  hashNowOrLater,
  MIN_SLICED_BYTES,
  normalizeHash,
  readWholeFile,
} from "../lib/contents.ts";
import { writeWarnings } from "../change/make.ts";
import { previewDiff } from "../render/preview.ts";
import type { WriteFileData } from "../generated/types.ts";
import type { WriteFileToolArgs } from "../write/arguments.ts";
import { countLines, countLinesYielding, encodeUtf8, encodeUtf8Yielding } from "../lib/text.ts";

/** The maximum size in bytes of either content for which `data.diff` is computed. */
const MAX_DIFF_BYTES = 1024 * 1024;

/** The path before the write. */
interface PathBeforeWrite {
  readonly exists: boolean;
  /** The content; null when the file does not exist, or was not read. */
  readonly bytes: Uint8Array | null;
  /** The size in bytes. */
  readonly size: number;
  readonly version: string | null;
  /** The facts that were read with the content. */
  readonly stat: FsStat | undefined;
  /** The path that is written: the path of the call, or the target of a dangling link. */
  readonly target: string;
}

/** Plans a call of `write_file`. */
export async function planWriteFile(args: WriteFileToolArgs, call: Call): Promise<Plan<WriteFileData>> {
  const at = call.locations[0]!;
  const found = await inspectPathBeforeWrite(args, call, at);
  if (found.exists && !args.overwrite && !args.append) throw locationError("ALREADY_EXISTS", at);
  if (args.expected_hash !== undefined) {
    assertExpectedHash(
      at,
      normalizeHash(args.expected_hash),
      found.bytes === null ? null : await hashNowOrLater(found.bytes, call.signal),
    );
  }
  return proposeWrite(args, call, found);
}

async function inspectPathBeforeWrite(
  args: WriteFileToolArgs,
  call: Call,
  at: Location,
): Promise<PathBeforeWrite> {
  await assertFile(call.fs, at).catch((error: unknown) => {
    if (!(error instanceof FilewrightError) || error.code !== "NOT_FOUND") throw error;
    throw locationError("INVALID_ARGUMENT", at, {
      complete: true,
      message: "Invalid argument 'path': it ends in '/', which names a directory, not a file.",
    });
  });
  const needed = args.append || (args.eol_given && args.eol === "keep") || args.expected_hash !== undefined;
  const unused = !needed && args.content_encoding === "base64";
  const limit = unused ? MAX_DIFF_BYTES : call.settings.limits.grepFileBytes;
  try {
    const { bytes, version, stat } = await readWholeFile(call, at, limit);
    return { exists: true, bytes, size: bytes.length, version, stat, target: at.path };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    if (error.code === "NOT_FOUND") return inspectMissingPathBeforeWrite(args, call, at);
    // If the old content is not needed, a file that is too large or cannot be read is replaced without
    // reading it.
    if (needed || (error.code !== "TOO_LARGE" && error.code !== "PERMISSION_DENIED")) throw error;
    const { version, size } = await call.fs.stat(at.path);
    const unread = { bytes: null, stat: undefined };
    return { ...unread, exists: true, size, version: version ?? null, target: at.path };
  }
}

/**
 * Returns the state of a path at which no file exists. If it is a dangling link, the target of the link is
 * created.
 */
async function inspectMissingPathBeforeWrite(
  args: WriteFileToolArgs,
  call: Call,
  at: Location,
): Promise<PathBeforeWrite> {
  const link = await lstatOrNull(call.fs, at.path);
  if (link !== null && !args.overwrite) throw locationError("ALREADY_EXISTS", at);
  const target = link === null ? at.path : await call.fs.realpath(at.path);
  return { exists: false, bytes: null, size: 0, version: null, stat: undefined, target };
}

/** Creates the plan, once the old content is known. */
async function proposeWrite(
  args: WriteFileToolArgs,
  call: Call,
  found: PathBeforeWrite,
): Promise<Proposal<WriteFileData>> {
  const { path } = call.locations[0]!;
  const { exists, bytes: before, version, stat, target } = found;
  const { bytes, data, warnings } = await describeWrite(args, call, found, undefined);
  const verb = !exists ? "Create" : args.append ? "Add to" : "Replace";
  return {
    kind: "changes",
    of: "contents",
    changes: [
      {
        do: "put",
        path,
        name: args.path,
        target,
        was: exists ? { version: version ?? undefined, bytes: before, stat } : null,
        now: { bytes, mode: args.mode, hash: data.hash, diff: undefined },
        from: null,
        parents: args.create_dirs,
        mayReplace: args.overwrite || args.append,
        needs: args.append ? "nothing" : "file",
      },
    ],
    base: [{ path, version }],
    reading: "list",
    by: "call",
    about: () => ({
      title: `${verb} ${args.path}`,
      location: 0,
      risk: exists && !args.append ? "medium" : "low",
    }),
    async answer([outcome], { by, changes: [made] }) {
      // What a reviewer has written is the whole content.
      const revised = by === "call" || made?.do !== "put" ? undefined : made.now.bytes;
      const described =
        revised === undefined
          ? { data, warnings }
          : await describeWrite({ ...args, append: false, content_encoding: "base64" }, call, found, revised);
      return { data: described.data, warnings: [...described.warnings, ...writeWarnings(outcome!.written)] };
    },
  };
}

/** A content to write, and the answer once it is written. */
interface DescribedWrite {
  readonly bytes: Uint8Array;
  readonly data: WriteFileData;
  readonly warnings: readonly string[];
}

/** Makes the content to write, or describes the one that a reviewer has made. */
async function describeWrite(
  args: WriteFileToolArgs,
  call: Call,
  found: PathBeforeWrite,
  revised: Uint8Array | undefined,
): Promise<DescribedWrite> {
  const { bytes: before } = found;
  const { given, bytes, lines, warnings } = await newContentOf(args, call, found, revised);
  const isCompared = before !== null && isShownInDiff(before) && isShownInDiff(bytes);
  const data: WriteFileData = withoutUndefined({
    path: call.reader.display(call.locations[0]!.path),
    operation: operationOf(args, found),
    bytes_written: given.length,
    lines_written: lines,
    hash: await hashNowOrLater(bytes, call.signal),
    diff: isCompared ? await previewDiff(before, bytes, args.path) : undefined,
  });
  return { bytes, data, warnings };
}

function operationOf(args: WriteFileToolArgs, { exists }: PathBeforeWrite): WriteFileData["operation"] {
  if (!exists) return "create";
  return args.append ? "append" : "update";
}

/** The content of the file after the write. */
interface NewContent {
  /** The bytes that were sent. */
  readonly given: Uint8Array;
  /** The bytes of the whole file. */
  readonly bytes: Uint8Array;
  /** The number of lines that were sent. */
  readonly lines: number;
  readonly warnings: readonly string[];
}

/** Makes the new content. @throws INVALID_ARGUMENT for one in which a comment stands for lines left out, and others */
async function newContentOf(
  args: WriteFileToolArgs,
  call: Call,
  found: PathBeforeWrite,
  revised: Uint8Array | undefined,
): Promise<NewContent> {
  const { bytes: before, size } = found;
  // Small content is processed at once, because dividing the work into slices would take longer.
  const yielder =
    Math.max(args.content.length, size) > MIN_SLICED_BYTES ? new Yielder({ signal: call.signal }) : undefined;
  await yielder?.yieldNow();
  const isText = args.content_encoding === "text";
  const name = call.locations[0]!.path;
  const old =
    before === null || !isText
      ? undefined
      : { bytes: before, form: await textFormOf(before, name, call.signal) };
  const encoding =
    revised === undefined
      ? encodeContent(args, call, { before, form: old?.form }, yielder)
      : { bytes: revised };
  const { bytes: given, kept } = encoding instanceof Promise ? await encoding : encoding;
  const bytes = args.append && before !== null ? engine().joined(before, given) : given;
  const text = isText ? args.content : given;
  const lines = yielder === undefined ? countLines(text) : await countLinesYielding(text, yielder);
  const left = await omissionsIn(args, call, old);
  const replaced = found.exists && !args.append ? size : 0;
  const shrunk = await shrinkNote(replaced, old, { bytes: bytes.length, lines }, yielder);
  const pasted = isText ? pastedWarning(args, before) : undefined;
  const notes = [kept, shrunk, pasted].filter((one) => one !== undefined);
  return { given, bytes, lines, warnings: [...notes, ...omissionWarnings(left)] };
}

/** The text of a file that text replaces, and its form; that is undefined where the file is no text. */
interface TextBefore {
  readonly bytes: Uint8Array;
  readonly form: FileTextForm | undefined;
}

/** Returns a note when the new content is smaller than the `size` bytes that it replaces; undefined otherwise. */
async function shrinkNote(
  size: number,
  old: TextBefore | undefined,
  now: { readonly bytes: number; readonly lines: number },
  yielder: Yielder | undefined,
): Promise<string | undefined> {
  if (now.bytes >= size) return undefined;
  const lines = old && (await lineCountOf(old.bytes, old.form, yielder));
  return shrunkWarning({ bytes: size, lines }, { bytes: now.bytes, lines: old && now.lines });
}

/** Returns what stands for lines left out, where the caller may send such. @throws INVALID_ARGUMENT where not */
async function omissionsIn(
  args: WriteFileToolArgs,
  call: Call,
  old: TextBefore | undefined,
): Promise<readonly Omission[]> {
  if (old?.form === undefined || args.append || args.whole_file) return [];
  const before = { bytes: old.bytes, encoding: old.form.encoding };
  const left = await findOmissionsAsync(before, args.content, call.signal);
  if (left.length === 0 || !call.reader.refusesOmissions) return left;
  throw omissionError("write_file", "content", left, wholeContentRemedy(call.reader.names));
}

/** Returns a warning when the content holds what belongs to an answer or to the call itself. */
function pastedWarning({ path, content }: WriteFileToolArgs, before: Uint8Array | null): string | undefined {
  return pastedAnswerWarning(path, content, before) ?? closingTagWarning(content);
}

/** Returns true for text that is small enough to be compared. */
function isShownInDiff(bytes: Uint8Array): boolean {
  return bytes.length <= MAX_DIFF_BYTES && !bytes.includes(0);
}

/** A content as it will be written. */
interface EncodedContent {
  readonly bytes: Uint8Array;
  /** A note about the properties that were kept from the old file; undefined when there are none to mention. */
  readonly kept?: string | undefined;
}

/**
 * Converts the content to bytes, with the encoding and line endings that the file will have. @throws
 * INVALID_ARGUMENT, ENCODING_ERROR
 */
function encodeContent(
  args: WriteFileToolArgs,
  call: Call,
  { before, form: known }: { readonly before: Uint8Array | null; readonly form: FileTextForm | undefined },
  yielder: Yielder | undefined,
): EncodedContent | Promise<EncodedContent> {
  const at = call.locations[0]!;
  if (args.content_encoding === "base64") return { bytes: decodedContent(args.content) };
  if (!args.content.isWellFormed()) {
    throw locationError("ENCODING_ERROR", at, {
      message: "content holds an unpaired surrogate, which has no encoding",
      hint: "send well-formed text",
    });
  }
  const { content, encoding, bom, kept, isKept } = writtenFormOf(args, before, known);
  if (isUtf8(encoding) && !bom) {
    if (yielder === undefined) return { bytes: encodeUtf8(content), kept };
    return encodeUtf8Yielding(content, yielder).then((bytes) => ({ bytes, kept }));
  }
  const name = isUtf8(encoding) ? "utf-8" : encoding;
  const refuse = (error: unknown): never => {
    throw isKept ? keptEncodingError(error, encoding, call) : error;
  };
  if (content.length >= MIN_THREAD_BYTES) {
    const encoded = engine().reading.encodeText(content, name, { bom, signal: call.signal });
    return encoded.then((bytes) => ({ bytes, kept }), refuse);
  }
  try {
    return { bytes: engine().encodeText(content, name, { bom }), kept };
  } catch (error) {
    return refuse(error);
  }
}

/** The text to write, and its form. */
interface WrittenForm {
  readonly content: string;
  readonly encoding: string;
  readonly bom: boolean;
  readonly kept: string | undefined;
  /** True when the encoding is that of the file. */
  readonly isKept: boolean;
}

/**
 * Returns the text in the form that the file will have. An encoding that the call sets, and a byte order mark in the
 * content, take precedence over the form of the file.
 */
function writtenFormOf(
  args: WriteFileToolArgs,
  before: Uint8Array | null,
  known: FileTextForm | undefined,
): WrittenForm {
  const keepsEncoding = args.encoding.toLowerCase() === "keep";
  const mayKeep = keepsEncoding && !args.content.startsWith("\ufeff");
  const form = mayKeep ? known : undefined;
  const eol = withFileLineEndings(args, before, known, mayKeep);
  const content = eol === "as_is" ? args.content : withEol(args.content, eol);
  const encoding = form?.encoding ?? (keepsEncoding ? "utf-8" : args.encoding);
  const bom = form?.bom === true && !args.append;
  const isCrlfKept = eol === "crlf" && content !== args.content && args.eol === "keep";
  const kept = form === undefined || args.append ? undefined : keptFormPhrase({ ...form, bom }, isCrlfKept);
  return { content, encoding, bom, kept, isKept: form !== undefined };
}

/** Returns the error about content that the encoding of the file cannot hold; any other error unchanged. */
function keptEncodingError(error: unknown, encoding: string, call: Call): unknown {
  if (!(error instanceof FilewrightError) || error.code !== "ENCODING_ERROR") return error;
  return locationError("ENCODING_ERROR", call.locations[0]!, {
    message: `the content cannot be written in the encoding of the file, ${encoding}`,
    hint:
      phraseIfNamed(
        setPhrase(call.reader.names, set("encoding", "utf-8")),
        (phrase) => `${phrase} to write the file in UTF-8`,
      ) || "leave out the characters that it lacks",
    details: { ...error.details, encoding },
    cause: error,
  });
}

/**
 * Returns the line endings of the new content; `as_is` to write them as sent. `mayKeep` is false when another
 * setting requires that.
 */
function withFileLineEndings(
  args: WriteFileToolArgs,
  before: Uint8Array | null,
  form: FileTextForm | undefined,
  mayKeep: boolean,
): "as_is" | "lf" | "crlf" {
  if (args.eol !== "keep") return args.eol;
  if (before === null) return "as_is";
  if (args.eol_given) return dominantEol(before);
  const isLf = args.content.includes("\n") && !args.content.includes("\r\n");
  return mayKeep && form?.eol === "crlf" && isLf ? "crlf" : "as_is";
}

function decodedContent(given: string): Uint8Array {
  try {
    return fromBase64(given);
  } catch {
    throw new FilewrightError("INVALID_ARGUMENT", "Invalid argument 'content': it is not base64.", {
      complete: true,
      details: { argument: "content" },
    });
  }
}
