/**
 * Mentions: `@path` in a person's prompt, resolved to the content of the path. Every file is read
 * through the workspace, so its roots, rules, grants and hooks apply. Resolvers determine the target
 * of a mention, such as one for `@bundle:path`.
 */
import type { ContentBlock } from "../readers/index.ts";
import { anyText, callback, optionChecker, list, type Options, options } from "../schema/option.ts";
import { escapeControls } from "../engine/escape.ts";
import { CALL_OPTION_ROWS } from "../pipeline/call-options.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import type { ToolResult } from "../pipeline/result.ts";
import { assertWorkspace } from "./given-workspace.ts";
import type { ToolDefinition } from "./preset-tools.ts";
import type { Workspace } from "./types.ts";
import { toolsFor } from "./workspace.ts";

/** One mention and its content. */
export interface Mention {
  /** The mention as the prompt has it, with the `@`. */
  readonly mention: string;
  /** The path that was read: that of the mention, or of a resolver. */
  readonly path: string;
  /** True when the path of the mention could be read. */
  readonly ok: boolean;
  /** The file's text with line numbers, a directory's listing, or the reason why there is none. */
  readonly text: string;
  /** The content of a mention in addition to its text, such as images. */
  readonly content?: readonly ContentBlock[];
}

/** The result of resolving the mentions of a prompt. */
export interface Mentions {
  /** The prompt, followed by the content of its mentions, ready for a model. */
  readonly text: string;
  /** The mentions, in the order of the text. */
  readonly mentions: readonly Mention[];
  /** The blocks of all mentions, such as images. */
  readonly content: readonly ContentBlock[];
}

/** Returns the path of a mention (without its `@`); undefined to leave it to the next resolver, null for none. */
export type MentionResolver = (
  mention: string,
) => string | undefined | null | Promise<string | undefined | null>;

/** The options of {@link resolveMentions}: those of the calls that read, and the resolvers. */
export interface MentionOptions extends CallOptions {
  /**
   * The functions that return the path of a mention. They are called in order, and the first returned path is
   * used. Default: a mention is a path.
   */
  readonly resolvers?: readonly MentionResolver[] | undefined;
}

/**
 * The options of {@link resolveMentions}.
 *
 * @printed
 */
export const MENTION_OPTIONS: Options<MentionOptions> = options("MentionOptions", {
  ...CALL_OPTION_ROWS,
  resolvers: list(callback()),
});

const checkOptions = optionChecker("resolveMentions", MENTION_OPTIONS);
const checkPrompt = optionChecker("resolveMentions", anyText());

/**
 * Matches a mention: at the start, or after white space, an opening bracket, a separator or a quote. An address
 * such as a@b.c is no mention.
 */
const MENTION_SYNTAX = /(?<=^|[\s([{<,;'"`])@(?:"([^"\n]+)"|([^\s"'`<>()[\]{},;]+))/gu;

/** The maximum number of mentions that are read for one prompt. Further ones stay as text. */
const MAX_MENTIONS = 50;

/**
 * Resolves the mentions of a prompt.
 *
 * @example
 * const { text, content } = await resolveMentions(ws, "What is wrong in @src/a.ts and @screenshot.png?");
 *
 * @example
 * await resolveMentions(ws, prompt, { resolvers: [(m) => m.startsWith("docs:") ? `docs/${m.slice(5)}` : undefined] });
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the option
 */
export async function resolveMentions(
  ws: Workspace,
  prompt: string,
  options: MentionOptions = {},
): Promise<Mentions> {
  assertWorkspace("resolveMentions", ws);
  checkPrompt(prompt);
  const { resolvers = [], ...call } = checkOptions(options);
  const tools = new Map(toolsFor(ws, "canonical").map((tool) => [tool.name, tool]));
  const own: RunOwnTool = async (tool, path) => (tools.get(tool) as ToolDefinition).execute({ path }, call);
  const found = new Map<string, string>();
  for (const [whole, quoted, bare = ""] of prompt.matchAll(MENTION_SYNTAX)) {
    // A full stop after a mention ends the sentence and is not part of the name.
    const name = quoted ?? bare.replace(/[.:!?]+$/u, "");
    if (name !== "" && found.size < MAX_MENTIONS) found.set(quoted === undefined ? `@${name}` : whole, name);
  }
  const mentions: Mention[] = [];
  for (const [mention, name] of found) mentions.push(await resolveMention(own, mention, name, resolvers));
  const sections = mentions.map(({ mention, ok, text }) =>
    ok ? `--- ${escapeControls(mention)} ---\n\n${text}\n` : text,
  );
  return {
    text: sections.length === 0 ? prompt : `${prompt}\n\n${sections.join("\n")}`,
    mentions,
    content: mentions.flatMap(({ content = [] }) => content),
  };
}

/** Runs a tool by its canonical name, whatever the preset of the workspace is. */
type RunOwnTool = (tool: "read_file" | "list_directory", path: string) => Promise<ToolResult>;

async function resolveMention(
  own: RunOwnTool,
  mention: string,
  name: string,
  resolvers: readonly MentionResolver[],
): Promise<Mention> {
  let path = name;
  for (const resolve of resolvers) {
    const made = await resolve(name);
    if (made === undefined) continue;
    if (made === null) return missingMention(mention, name);
    path = made;
    break;
  }
  let result = await own("read_file", path);
  if (result.error?.code === "IS_DIRECTORY") result = await own("list_directory", path);
  if (!result.ok) return missingMention(mention, path, result.error.code);
  const { text, content } = result;
  return { mention, path, ok: true, text, ...(content === undefined ? {} : { content }) };
}

/**
 * Returns a mention without content. Its text is the same for a missing path and a forbidden one, because a prompt
 * must not reveal files outside.
 */
function missingMention(mention: string, path: string, code = "NOT_FOUND"): Mention {
  const why = code === "NOT_FOUND" || code === "OUTSIDE_ALLOWED" ? "" : ` (${code})`;
  return { mention, path, ok: false, text: `@mention not found: ${escapeControls(mention)}${why}` };
}
