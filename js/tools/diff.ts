/** `diff`: compares two files, or a file and a text. */
import type { Location } from "../policy/index.ts";
import { engine } from "../engine/current.ts";
import type { DiffHunk } from "../engine/text/diff.ts";
import { FilewrightError } from "../engine/errors.ts";
import { isTextKind, readWholeFile } from "./lib/contents.ts";
import { renderDiffAsHtml, TRUNCATED_DIFF_NOTE } from "./render/diff_html.ts";
import { exactly, named } from "./lib/exact.ts";
import type { DiffData, HunkData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { type Arguments, compileArgumentCheck, object } from "./lib/schema.ts";
import { COMPARE_ALIASES, choice, flag, integer, path, text, timeoutSchema } from "./lib/shared.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { encodeUtf8, maxAnswerBytes, withDiff } from "./lib/text.ts";
import { type Call, type ReadingTool, locationError } from "./lib/tool.ts";
import { escapeControls } from "../engine/escape.ts";

type CheckedDiffArgs = CheckedArgs["diff"];

const inputSchema = exactly(
  object(
    {
      a: path("The first (old) file"),
      b: path("The second (new) file; or give content_b"),
      content_b: text("The second (new) content itself, instead of a file."),
      context: integer("Unchanged lines around each change.", { default: 3, minimum: 0, maximum: 1_000_000 }),
      ignore_whitespace: flag(
        "Treat lines as equal that differ only in white space, line ends included.",
        false,
      ),
      format: choice(
        "The text: a unified diff, JSON hunks, or an HTML table.",
        ["unified", "json", "html"],
        "unified",
      ),
      timeout_ms: timeoutSchema(),
    },
    ["a"],
  ),
  { oneOf: { cases: [{ required: ["b"] }, { required: ["content_b"] }] } },
);

const outputSchema = object(
  {
    identical: { type: "boolean", description: "Whether nothing differs." },
    diff: text("The unified diff, with the line ends of the files."),
    added: integer("Lines only in the second."),
    removed: integer("Lines only in the first."),
    hunks: {
      type: "array",
      description: "With format json or html: the hunks as data.",
      items: named(
        "HunkData",
        object(
          {
            old_start: integer("First line in the first file."),
            old_lines: integer("Lines in the first file."),
            new_start: integer("First line in the second file."),
            new_lines: integer("Lines in the second file."),
            lines: { type: "array", items: { type: "string" }, description: "Lines with their markers." },
          },
          ["old_start", "old_lines", "new_start", "new_lines", "lines"],
        ),
      ),
    },
    truncated: { type: "boolean", description: "Whether the end of the diff is left out." },
  },
  ["identical", "diff", "added", "removed"],
);

/** Compares two files. */
export const diff: ReadingTool<CheckedDiffArgs, DiffData> = {
  kind: "read",
  name: "diff",
  title: "Compare",
  traits: ["readsContents", "showsDiff"],
  description: `Shows what differs between two text files, or between a file and a text given as content_b, as a unified diff (--- a/…, +++ b/…, @@ hunks). Use it to check a change or to compare versions; nothing is written. Two equal files give "Files are identical". Binary files are refused.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: COMPARE_ALIASES,
  parse: withSecondSideCheck(compileArgumentCheck<CheckedDiffArgs>("diff", inputSchema)),
  paths: (args) =>
    args.b === undefined
      ? [{ argument: "a", typed: args.a, intent: "read", missing: "refuse" }]
      : [
          { argument: "a", typed: args.a, intent: "read", missing: "refuse" },
          { argument: "b", typed: args.b, intent: "read", missing: "refuse" },
        ],
  async run(args, call) {
    const before = await contentOfSide(call.locations[0]!, call);
    const after =
      args.content_b === undefined
        ? await contentOfSide(call.locations[1]!, call)
        : encodeUtf8(args.content_b);
    const options = {
      oldName: args.a,
      newName: args.b ?? args.a,
      context: args.context,
      ignoreWhitespace: args.ignore_whitespace,
      signal: call.signal,
      // The diff stops at the maximum size of an answer, because hunks beyond it could not be returned.
      limits: args.format === "unified" ? undefined : { bytes: maxAnswerBytes(call.settings.limits) },
    };
    // `data` contains every byte: other tools could not apply a diff without the CRs of its files.
    const result = await engine().diffAsync(before, after, { ...options, lineEnds: "raw" });
    const { identical, text: unified, added, removed, truncated } = result;
    const hunks = args.format === "unified" ? undefined : result.hunks.map(toHunkData);
    const data: DiffData = withoutUndefined({
      ...{ identical, diff: unified, added, removed, hunks },
      truncated: truncated ? true : undefined,
    });
    if (args.format !== "unified" || !unified.includes("\r")) return { data };
    return { data, shownDiff: (await engine().diffAsync(before, after, options)).text };
  },
  texts: {
    render(data, args, call, shownDiff = data.diff) {
      if (args.format === "json")
        return JSON.stringify(data.hunks) + (data.truncated === true ? `\n${TRUNCATED_DIFF_NOTE}` : "");
      if (data.identical) return "Files are identical";
      return args.format === "html"
        ? renderDiffAsHtml(args.a, args.b ?? args.a, data.hunks ?? [], {
            maxBytes: maxAnswerBytes(call.settings.limits),
            cut: data.truncated === true,
          })
        : shownDiff.replace(/\n$/u, "");
    },
    display({ identical, added, removed, diff: made }, { a, b, format }) {
      const shown = `Compared ${escapeControls(a)} with ${b === undefined ? "other content" : escapeControls(b)}`;
      if (identical) return `${shown}: no difference`;
      return withDiff(`${shown}: +${added} −${removed}`, format === "html" ? "" : made);
    },
  },
};

function withSecondSideCheck(
  parse: (args: Arguments) => CheckedDiffArgs,
): (args: Arguments) => CheckedDiffArgs {
  return (given) => {
    const args = parse(given);
    if ((args.b === undefined) === (args.content_b === undefined)) {
      throw new FilewrightError(
        "INVALID_ARGUMENT",
        "Invalid argument 'b': give either b (a file) or content_b (a text), not both.",
        {
          complete: true,
          details: { argument: "b" },
        },
      );
    }
    if (args.content_b !== undefined && !args.content_b.isWellFormed()) {
      throw new FilewrightError(
        "INVALID_ARGUMENT",
        "Invalid argument 'content_b': it holds an unpaired surrogate.",
        {
          complete: true,
          details: { argument: "content_b" },
        },
      );
    }
    return args;
  };
}

async function contentOfSide(at: Location, call: Call): Promise<Uint8Array> {
  const { bytes } = await readWholeFile(call, at, call.settings.limits.wholeFileBytes);
  const { kind, mime } = await engine().reading.inspect(bytes, { name: at.path, signal: call.signal });
  if (!isTextKind(kind)) throw locationError("BINARY_FILE", at, { details: { mime, size: bytes.length } });
  return bytes;
}

function toHunkData(hunk: DiffHunk): HunkData {
  return {
    old_start: hunk.oldStart,
    old_lines: hunk.oldLines,
    new_start: hunk.newStart,
    new_lines: hunk.newLines,
    lines: hunk.lines,
  };
}
