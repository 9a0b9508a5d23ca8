/** The plan of `edit_file`. It is loaded after a workspace opens, or by the first call. */
import { engine } from "../../engine/current.ts";
import type { AppliedEdit, BytesPlan } from "../../engine/text/edit.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Inspection } from "../../engine/read.ts";
import { contentsDigit, currentFileFacts, type CurrentFileFacts } from "../lib/seen.ts";
import {
  assertExpectedHash,
  isTextKind,
  linesIn,
  linesWithoutEndings,
  normalizeHash,
  readWholeFile,
} from "../lib/contents.ts";
import type { Put } from "../change/change.ts";
import { writeWarnings } from "../change/make.ts";
import { previewDiff } from "../render/preview.ts";
import { phraseIfNamed, set, setPhrase, type Call, type Plan, locationError } from "../lib/tool.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { closingTagWarning } from "../lib/call-form.ts";
import {
  findOmissionsOfFile,
  mayContainOmission,
  type Omission,
  omissionError,
  omissionWarnings,
} from "../lib/omission.ts";
import type { EditRequest } from "../edit/schema.ts";
import type { EditArgs, EditFileData, EditOutcome } from "../generated/types.ts";
import { NOTEBOOK_MIME, planNotebookEdits } from "../edit/notebook.ts";
import { withAnchorRetries, withEditRetries } from "../edit/retry.ts";
import { type NamedPlace, planEditsWithValues, type ValueEdit } from "../edit/value.ts";
import { maxAnswerBytes } from "../lib/text.ts";

/** The content of the file to edit, and its state. */
interface CurrentFile extends CurrentFileFacts {
  readonly bytes: Uint8Array;
  /** Its kind and encoding. */
  readonly inspection: Promise<Inspection>;
}

/** What the edits of a call have among them: what none of them has need not be looked for. */
interface Asked {
  readonly anchors: boolean;
  readonly values: boolean;
  readonly inserts: boolean;
  /** True where a new text could contain an omission. Only sent text can, so most files need no comparison. */
  readonly mayOmit: boolean;
  readonly mayEndInTag: boolean;
}

function askedOf(edits: readonly EditArgs[]): Asked {
  const asked = { anchors: false, values: false, inserts: false, mayOmit: false, mayEndInTag: false };
  for (const { from, json_pointer, symbol, insert, new_text: text = "", old_text: old = "" } of edits) {
    asked.anchors ||= from !== undefined;
    asked.values ||= (json_pointer ?? symbol) !== undefined;
    asked.inserts ||= insert !== undefined;
    asked.mayOmit ||= mayContainOmission(text);
    // The tags of a call end in `>`, and few new texts do.
    asked.mayEndInTag ||= text.trimEnd().endsWith(">") && !old.trimEnd().endsWith(">");
  }
  return asked;
}

/** Plans a call of `edit_file`. */
export async function planEditFile(
  args: EditRequest,
  call: Call,
  outdated?: Plan<EditFileData>,
): Promise<Plan<EditFileData>> {
  const at = call.locations[0]!;
  const { bytes: before, version, stat } = await readWholeFile(call, at, call.settings.limits.grepFileBytes);
  const facts = currentFileFacts(before, version);
  if (args.expected_hash !== undefined)
    assertExpectedHash(at, normalizeHash(args.expected_hash), await facts.hash());
  const inspection = engine().reading.inspect(before, { name: at.path, signal: call.signal });
  inspection.catch(() => {}); // The code that awaits it reports its error.
  const now: CurrentFile = { bytes: before, inspection, ...facts };
  const asked = askedOf(args.edits);
  const planned = await replaceInContent(now, args, call, asked);
  if (!planned.ok) throw await refusedEdits(planned.error, now, args, call);
  // A plan after a write of another program is based on content that the caller never saw.
  const isUnseen = outdated?.kind === "changes" && outdated.base[0]?.version !== version;
  if (isUnseen && planned.edits.some(({ tier }) => tier !== "exact")) {
    throw locationError("CONFLICT", at, {
      message: "changed while it was edited, and old_text is no longer there to the letter",
      hint: "read it again",
    });
  }
  const { bytes, diff, edits, replacements } = planned;
  if (asked.inserts) await refuseRepeatedInsertion(now, edits, args, call);
  const warnings = await warningsAbout(planned, { now, args, call, asked });
  const { sha256 } = bytes.length > MIN_LARGE_FILE_BYTES ? engine().onThreads : engine();
  const hashing = planned.hash ?? sha256(bytes);
  const hash = bytes.length > MIN_CONCURRENT_HASH_BYTES ? hashing : await hashing;
  const data = withoutUndefined({
    path: call.reader.display(at.path),
    applied: !args.dry_run,
    replacements,
    edits: edits.map(editOutcomeOf),
    diff: diff.text,
    bytes_written: bytes.length,
    truncated: diff.truncated ? true : undefined,
    hash,
  });
  if (args.dry_run) return { kind: "settled", answer: { data: { ...data, hash: await hash }, warnings } };
  return {
    kind: "changes",
    of: "contents",
    changes: [
      {
        do: "put",
        path: at.path,
        name: args.path,
        target: at.path,
        was: { version, bytes: before, stat },
        now: { bytes, mode: undefined, hash, diff: diff.truncated ? undefined : diff },
        from: null,
        parents: false,
        mayReplace: true,
        needs: edits.every((edit) => isQuoted(edit, args)) ? "quoted" : "lines",
      },
    ],
    base: [{ path: at.path, version }],
    reading: "list",
    by: "call",
    about: () => ({ title: `Edit ${args.path}`, location: 0, risk: "low" }),
    async answer([outcome], { by, changes: [made] }) {
      const { now } = made as Put;
      const said = by === "call" ? data : await revisedData(data, before, now.bytes, args);
      return {
        data: { ...said, hash: await now.hash },
        warnings: [...warnings, ...writeWarnings(outcome!.written)],
      };
    },
  };
}

/** Returns true for an edit that quotes the lines it replaces. A symbol names lines that the caller need not have seen. */
function isQuoted({ index, tier, repairs }: AppliedEdit, { edits }: EditRequest): boolean {
  return tier === "exact" && repairs.length === 0 && edits[index]?.symbol === undefined;
}

/** An edit of a file as it is now. */
interface EditWork {
  readonly now: CurrentFile;
  readonly args: EditRequest;
  readonly call: Call;
  readonly asked: Asked;
}

/** Returns the warnings about the new texts. @throws INVALID_ARGUMENT for one with lines left out, where that is refused */
async function warningsAbout(
  { bytes, edits }: Extract<BytesPlan, { readonly ok: true }>,
  { now, args, call, asked }: EditWork,
): Promise<readonly string[]> {
  const left = args.whole_file || !asked.mayOmit ? [] : await omissionsOfEdits(now, bytes, call.signal);
  if (left.length > 0 && call.reader.refusesOmissions) throw omittedLinesError(left, call);
  // Presets that accept omissions are also those that allow a missing new text.
  const gone = call.reader.refusesOmissions ? [] : deletionWarnings(edits, args);
  const tags = asked.mayEndInTag ? closingTagWarnings(args) : [];
  return [...(left.length === 0 ? [] : omissionWarnings(left)), ...gone, ...tags];
}

function omittedLinesError(left: readonly Omission[], { reader: { names } }: Call): FilewrightError {
  const remedy = phraseIfNamed(
    setPhrase(names, set("whole_file", true)),
    (phrase) => `; ${phrase} if the line is meant as it is`,
  );
  return omissionError(
    "edit_file",
    "new_text",
    left,
    `Nothing was written: send the lines themselves, or replace only the lines that change${remedy}.`,
  );
}

/** Returns the data of an edit of which a reviewer has made another content. */
async function revisedData<Data extends Pick<EditFileData, "diff">>(
  data: Data,
  before: Uint8Array,
  bytes: Uint8Array,
  { path }: EditRequest,
): Promise<Data & Pick<EditFileData, "revised" | "diff" | "bytes_written">> {
  return {
    ...data,
    revised: true,
    diff: await previewDiff(before, bytes, path),
    bytes_written: bytes.length,
  };
}

/**
 * Returns the error for edits that cannot be made, with calls that can, and with what changed since the file was read.
 * @throws NO_CHANGE for an insertion by a stale anchor whose lines are there already
 */
async function refusedEdits(
  error: FilewrightError,
  now: CurrentFile,
  args: EditRequest,
  call: Call,
): Promise<FilewrightError> {
  const { path } = call.locations[0]!;
  if (error.details?.["reason"] === "stale_anchor") await refuseRepeatedInsertion(now, [], args, call);
  const refused = await withSendableAnchors(withEditRetries(error, args), path, now, call);
  const retried = withAnchorRetries(refused, args);
  if ((await call.seen.changed(path, now)) !== false) await call.seen.refresh?.(path);
  return withStaleness(retried, await call.seen.changed(path, now));
}

/**
 * Adds anchors to the candidates in an error. While the file is unchanged, the caller can send them as `from`
 * and `to`, which works even if several lines are equal.
 */
async function withSendableAnchors(
  error: FilewrightError,
  file: string,
  now: CurrentFile,
  call: Call,
): Promise<FilewrightError> {
  const { code, hint, complete, path, details } = error;
  const found = details?.["candidates"] as
    | readonly { readonly from?: unknown; readonly to?: unknown }[]
    | undefined;
  if (!Array.isArray(found) || found.length === 0) return error;
  const contents = await now.hash();
  const digit = contentsDigit(contents);
  call.seen.giveAnchors(file, contents);
  const sendable = (anchor: unknown): unknown => (typeof anchor === "string" ? anchor + digit : anchor);
  const candidates = found.map((candidate) =>
    withoutUndefined({ ...candidate, from: sendable(candidate.from), to: sendable(candidate.to) }),
  );
  return new FilewrightError(code, error.message, {
    hint,
    complete,
    path,
    details: { ...details, candidates },
  });
}

/** Adds to the details of an error whether the file has changed since the caller read it. */
function withStaleness(error: FilewrightError, changed: boolean | undefined): FilewrightError {
  if (changed === undefined || error.details === undefined) return error;
  const { code, hint, complete, path } = error;
  const details = { ...error.details, file_changed_since_read: changed };
  const message = changed ? `${error.message}\nThe file has changed since it was read.` : error.message;
  return new FilewrightError(code, message, { hint, complete, path, details });
}

const UTF_8_ENCODING = "utf-8";
/**
 * The size in bytes above which detecting the encoding and hashing take milliseconds, so that both run while
 * the edits are planned.
 */
const MIN_LARGE_FILE_BYTES = 4 * 1024 * 1024;
/**
 * The size in bytes above which content is hashed while it is written. Smaller content is hashed before the
 * write, because the journal record needs the hash.
 */
const MIN_CONCURRENT_HASH_BYTES = 64 * 1024 * 1024;

/** Returns the edits of a call for the engine, each with whether its anchors were given for the present content. */
async function engineEdits(
  now: CurrentFile,
  args: EditRequest,
  call: Call,
  { anchors }: Asked,
): Promise<readonly ValueEdit[]> {
  const at = call.locations[0]!;
  if (anchors && (await call.seen.changed(at.path, now)) !== false) await call.seen.refresh?.(at.path);
  const areCurrent = async ([from, to]: readonly [from: string | undefined, to: string | undefined]) =>
    from !== undefined &&
    (await call.seen.hasAnchorOf(at.path, now, from)) &&
    (to === undefined || (await call.seen.hasAnchorOf(at.path, now, to)));
  const edits: ValueEdit[] = [];
  for (const edit of args.edits) {
    if (edit.old_text?.isWellFormed() === false || edit.new_text?.isWellFormed() === false) {
      throw locationError("ENCODING_ERROR", at, {
        message: "an edit holds an unpaired surrogate, which has no encoding",
        hint: "send well-formed text",
      });
    }
    edits.push({
      oldText: edit.old_text,
      newText: edit.new_text ?? "",
      replaceAll: edit.replace_all,
      expectedMatches: edit.expected_matches,
      nearLine: edit.near_line,
      from: edit.from,
      to: edit.to,
      unchanged: anchors && (await areCurrent([edit.from, edit.to])),
      insert: edit.insert,
      place: placeOf(edit),
    });
  }
  return edits;
}

/** Returns the place that an edit names by a pointer or a symbol; undefined for one that names text or lines. */
function placeOf({ json_pointer: pointer, symbol }: EditArgs): NamedPlace | undefined {
  if (pointer !== undefined) return { is: "value", pointer };
  return symbol === undefined ? undefined : { is: "definition", symbol };
}

/** Returns the bytes after the edits, in the file's own encoding. @throws BINARY_FILE, ENCODING_ERROR */
async function replaceInContent(
  now: CurrentFile,
  args: EditRequest,
  call: Call,
  asked: Asked,
): Promise<BytesPlan> {
  const at = call.locations[0]!;
  const { bytes: before } = now;
  const edits = await engineEdits(now, args, call, asked);
  const options = {
    match: args.match ?? call.settings.edit.match,
    threshold: args.threshold,
    onMultiple: args.on_multiple,
    path: args.path,
    limits: { bytes: maxAnswerBytes(call.settings.limits) },
    encoding: UTF_8_ENCODING,
    hash: before.length > MIN_LARGE_FILE_BYTES,
    signal: call.signal,
  };
  const planIn = (encoding: string): Promise<BytesPlan> =>
    engine().planEditsBytesAsync(before, edits, { ...options, encoding });
  // Plans the edits of a large file as UTF-8, the most likely encoding, while its encoding is detected.
  const early = before.length > MIN_LARGE_FILE_BYTES && !asked.values ? planIn(UTF_8_ENCODING) : undefined;
  early?.catch(() => {}); // Not needed after all, and cancelled; the other plan reports errors.
  const { kind, mime, encoding } = await now.inspection;
  if (!isTextKind(kind)) {
    throw locationError("BINARY_FILE", at, { details: { kind, mime, size: before.length } });
  }
  const name = encoding ?? UTF_8_ENCODING;
  const file = { mime, signal: call.signal };
  const inEncoding = { ...options, encoding: name };
  if (asked.values) return planEditsWithValues(before, edits, inEncoding, file);
  const plan = await (early !== undefined && name === UTF_8_ENCODING ? early : planIn(name));
  if (plan.ok || mime !== NOTEBOOK_MIME || plan.error.code !== "MATCH_NOT_FOUND") return plan;
  return (await planNotebookEdits(before, edits, inEncoding, call.signal)) ?? plan;
}

/**
 * Refuses an insertion by an anchor when the inserted lines are already at that place: probably the caller
 * repeats a call. The anchor of the repeated call still names its line.
 *
 * @throws FilewrightError NO_CHANGE
 */
async function refuseRepeatedInsertion(
  now: CurrentFile,
  edits: readonly AppliedEdit[],
  { edits: asked }: EditRequest,
  call: Call,
): Promise<void> {
  const at = call.locations[0]!;
  const only = asked.length === 1 ? edits[0] : undefined;
  const insertions = asked.flatMap((edit, index) => {
    const { added, firsts } = insertionOf(edit, only, edits.length > 0);
    return firsts.map((first) => ({ index, added, first }));
  });
  if (insertions.length === 0) return;
  const { kind, encoding } = await now.inspection;
  if (!isTextKind(kind) || encoding === null) return;
  const wanted = insertions.map(({ first, added }) => ({ first, count: added.length }));
  const found = await linesIn({ bytes: now.bytes, encoding, name: at.path }, wanted, call.signal);
  for (const [place, { index, added, first }] of insertions.entries()) {
    if (!added.every((line, offset) => found[place]?.[offset] === line)) continue;
    throw locationError("NO_CHANGE", at, {
      complete: true,
      message: `The lines that edits[${index}] inserts are already there, at line ${first + 1}; nothing was written. To have them twice, insert them at a different line.`,
      details: { reason: "already_applied", edit_index: index, line: first + 1 },
    });
  }
}

/** The lines that an edit inserts, and the lines (0-based) at which they may be already. */
interface Insertion {
  readonly added: readonly string[];
  readonly firsts: readonly number[];
}

const NOTHING_INSERTED: Insertion = { added: [], firsts: [] };

/**
 * Returns the lines that an edit inserts, and the lines (0-based) at which they may be already; no line where they are
 * too common to tell. `only` is what became of the edit where it is the only one: then its line is known. With several,
 * anchors refer to the line numbers before the call.
 */
function insertionOf(
  { from = "", insert, new_text }: EditArgs,
  only: AppliedEdit | undefined,
  isPlanned: boolean,
): Insertion {
  if (insert === undefined) return NOTHING_INSERTED;
  const added = linesWithoutEndings(new_text);
  // Lines without any word, such as `}`, are often repeated on purpose.
  const isTelling = added.some((line) => /[\p{L}\p{N}].*[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(line));
  if (!isTelling) return NOTHING_INSERTED;
  const named = Number(/^\s*(\d+)/u.exec(from)?.[1]) - (insert === "before" ? 1 : 0);
  const place = only === undefined ? named : only.startLine - 1;
  const before = place - added.length;
  // If the anchor is stale, the inserted lines may have taken its line number.
  const firsts = insert === "after" ? [place] : isPlanned ? [before] : [place, before];
  return { added, firsts: firsts.filter((first) => first >= 0) };
}

/** Returns a warning for each edit whose new text is empty, which names the deleted lines. */
function deletionWarnings(edits: readonly AppliedEdit[], { edits: asked }: EditRequest): readonly string[] {
  return edits.flatMap(({ index, startLine, endLine }) => {
    if (asked[index]?.new_text !== "") return [];
    const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`;
    return [`old text of ${lines} was deleted: the new text is empty`];
  });
}

function closingTagWarnings({ edits }: EditRequest): readonly string[] {
  return edits.flatMap(({ new_text: text = "", old_text: old = "" }) => {
    return (old.trimEnd().endsWith(">") ? undefined : closingTagWarning(text)) ?? [];
  });
}

/**
 * Finds lines of the new content, such as `// ... rest of the file`, that stand for lines which the edits
 * remove.
 */
async function omissionsOfEdits(
  now: CurrentFile,
  after: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<readonly Omission[]> {
  const { kind, encoding } = await now.inspection;
  if (!isTextKind(kind) || encoding === null) return [];
  return findOmissionsOfFile({ bytes: now.bytes, encoding }, after, signal);
}

function editOutcomeOf(edit: AppliedEdit): EditOutcome {
  return {
    index: edit.index,
    matches: edit.matches,
    tier: edit.tier,
    score: edit.score,
    repairs: edit.repairs,
    start_line: edit.startLine,
    end_line: edit.endLine,
  };
}
