/** `changes_since`: what others changed since the agent last looked, as hunks within a budget. */
import { plural } from "../engine/escape.ts";
import { lazily } from "../engine/lazy.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import type { ChangesSinceData } from "./generated/types.ts";
import { exactly, named } from "./lib/exact.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { choice, integer, path, PATH_ALIASES, text, texts, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { truncatedClause } from "./lib/text.ts";
import { MIN_MAX_TOKENS } from "./lib/tokens.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { changesText, withoutLast } from "./render/changes.ts";

const looking = lazily("changes of others", () => import("./run/changes_since.ts"));

type Args = CheckedArgs["changes_since"];

const inputSchema = object(
  {
    since: text(
      "read: since you read each file; or the name of a mark, or a call_id: by recorded calls since then.",
      {
        default: "read",
        minLength: 1,
      },
    ),
    path: path("Only this file, or below this directory", { default: "." }),
    by: choice("Whose changes; all includes your own since a mark or a call.", ["others", "all"], "others"),
    max_tokens: integer("The most tokens of the text.", { default: 2000, minimum: MIN_MAX_TOKENS }),
  },
  [],
);

const CHANGE_SCHEMA = named(
  "FileChange",
  object(
    {
      path: text("Relative to the workspace."),
      what: exactly(text("changed, new or gone."), { values: ["changed", "new", "gone"] }),
      lines: text("The lines that changed, where they are known."),
      by: text("Who changed it."),
      shown: text(
        "Hunks of a unified diff; where the old lines are not known, the present ones with numbers.",
      ),
      first_line: integer("Where the changes begin that are not shown; absent when all are."),
    },
    ["path", "what", "by"],
  ),
);

const outputSchema = object(
  {
    files: {
      type: "array",
      items: CHANGE_SCHEMA,
      description: "By path; those without `shown` did not fit.",
    },
    truncated: { type: "boolean", description: "Whether something did not fit." },
    left_out: integer("The number of changed files that did not fit."),
    unread: texts("Files of which it is not known, since they could not be read."),
    tokens: integer("Tokens of the text."),
    warnings: WARNINGS_SCHEMA,
  },
  ["files", "truncated", "left_out", "unread"],
);

/** Tells what others changed. */
export const changesSince: ReadingTool<Args, ChangesSinceData> = {
  kind: "read",
  name: "changes_since",
  title: "Changes of others",
  traits: ["searches", "knowsRepository"],
  description: `Shows what other agents and programs changed in the files that you have read, as diff hunks within max_tokens, and who did. The lines shown count as read. Use it before you go on with files that others work on, too, instead of reading them again.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("changes_since", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "accept" }],
  scans: () => true,
  run: async (args, call) => (await looking()).runChanges(args, call),
  texts: {
    render: (data, { since }, { reader: { names } }) => changesText(data, names, since),
    display: ({ files, truncated }) =>
      `Looked for changes: ${plural(files.length, "file")}${truncatedClause(truncated)}`,
    fit: { shrink: (data) => withoutLast(data) },
  },
};
