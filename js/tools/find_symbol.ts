import { escapeControls, plural } from "../engine/escape.ts";
import { lazily } from "../engine/lazy.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import type { FindSymbolData } from "./generated/types.ts";
import { named } from "./lib/exact.ts";
import { compileArgumentCheck, NAME_PATTERN, object } from "./lib/schema.ts";
import {
  flag,
  integer,
  PATH_ALIASES,
  path,
  text,
  textOrTextListSchema,
  timeoutSchema,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import { quoteForPeople } from "./lib/text.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { symbolText, withFirstPlaces } from "./render/symbol.ts";

const finding = lazily("symbols", () => import("./run/find_symbol.ts"));

type Args = CheckedArgs["find_symbol"];

const inputSchema = object(
  {
    name: text("The name, or what is around it and the name: Parser.parse.", { pattern: NAME_PATTERN }),
    path: path("The file or directory to search", { default: "." }),
    glob: textOrTextListSchema("Only files whose path matches: *.ts at any depth, src/** below a directory."),
    uses: flag("Give the lines that use the name, too.", true),
    max_tokens: { ...MAX_TOKENS_SCHEMA, default: 2000 },
    timeout_ms: timeoutSchema("After this time what was found so far is given."),
  },
  ["name"],
);

const outputSchema = object(
  {
    definitions: {
      type: "array",
      description: "Definitions of the name, by path and line.",
      items: named(
        "SymbolDefinition",
        object(
          {
            path: text("Relative to the workspace."),
            kind: text("function, method, class, struct, enum, interface and so on."),
            name: text("The name, with the names of what is around it: Parser.parse."),
            signature: text("The line with the name, shortened."),
            start_line: integer("First line, without decorators and comments above."),
            end_line: integer("Last line."),
          },
          ["path", "kind", "name", "signature", "start_line", "end_line"],
        ),
      ),
    },
    uses: {
      type: "array",
      description: "The other lines with the name, by path and line.",
      items: named(
        "SymbolUse",
        object(
          {
            path: text("Relative to the workspace."),
            line: integer("From 1."),
            text: text("The line, at most 200 characters."),
            in: text("The definition around it; absent outside of any."),
            defines: text(
              "The other definition with the last part of the name that begins here: Lexer.parse.",
            ),
          },
          ["path", "line", "text"],
        ),
      ),
    },
    total_definitions: integer("All definitions that were found, also those left out."),
    total_uses: integer("All other lines that were found, also those left out; 0 with uses: false."),
    left_out_by: {
      type: "string",
      enum: ["max_tokens", "size"],
      description: "The limit that left out places: max_tokens, or that of the size of every answer.",
    },
    complete: { type: "boolean", description: "Whether everything was searched." },
    tokens: TOKENS_SCHEMA,
    warnings: WARNINGS_SCHEMA,
  },
  ["definitions", "uses", "total_definitions", "total_uses", "complete"],
);

/** Finds the definitions of a name and the lines that use it. */
export const findSymbol: ReadingTool<Args, FindSymbolData> = {
  kind: "read",
  name: "find_symbol",
  title: "Find a symbol",
  traits: ["knowsRepository", "searches"],
  otherNames: {
    names:
      /^(?:findsymbols|symbolsearch|searchsymbols?|workspacesymbols?|gotodefinition|finddefinitions?|find(?:all)?references|findreferencingsymbols|findusages|findcallers)$/u,
    does: "finds a name",
  },
  description: `Finds where a name is defined, then the lines that use it, each with the function or type around it. Use it before you change or rename something, or to follow a call.
It compares names, not types: two functions with one name are not told apart, and a use may be a comment or a text. Definitions of about 30 languages are known; ignored and binary files are left out. The answer keeps to max_tokens and says what was left out.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: { ...PATH_ALIASES, symbol: "name", query: "name" },
  parse: compileArgumentCheck("find_symbol", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  // What was found when its time is up is given.
  scans: () => "partial",
  run: async (args, call) => (await finding()).runFindSymbol(args, call),
  texts: {
    render: symbolText,
    display: ({ total_definitions, total_uses }, { name }) =>
      `Found ${plural(total_definitions, "definition")} and ${plural(total_uses, "use")} of ${quoteForPeople(escapeControls(name))}`,
    fit: {
      shrink(data, _args, lines) {
        let left = lines;
        return withFirstPlaces(data, "size", () => left-- > 0);
      },
    },
  },
};
