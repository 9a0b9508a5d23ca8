/**
 * No refusal is a dead end: the remedy that its text names is followed, in the tools of the preset, until the call of the
 * agent succeeds. The agent of this test knows nothing but the texts of the answers.
 */
import { describe, expect, test } from "vitest";
import { CODES } from "../../js/engine/errors.ts";
import {
  MemoryBackend,
  openWorkspace,
  toolsFor,
  type ToolResult,
  type Workspace,
} from "../../js/index.node.ts";
import { leanPreset } from "../../js/presets/lean.ts";
import { PRESET_NAMES, type Preset, presetOf, type PresetTool } from "../../js/presets/index.ts";
import { TOOLS } from "../../js/tools/index.ts";
import { CANONICAL_NAMES } from "../../js/tools/lib/tool.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { share } from "../support/share.ts";

type Args = Readonly<Record<string, unknown>>;
interface AgentCall {
  readonly tool: string;
  readonly args: Args;
}

/** A call as the details of a refusal have it. */
interface SentCall {
  readonly tool: string;
  readonly arguments: Args;
}

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const LINES = Array.from({ length: 40 }, (_, n) => `line ${n + 1}\n`).join("");
/** What an agent may find: texts and files that are none, whole, damaged, and of kinds that readers know. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "text.txt": "one\ntwo\n",
  "long.txt": LINES,
  "twice.txt": "same\nother\nsame\n",
  "binary.bin": bytes(0, 159, 146, 150, 0, 1, 2, 3),
  "archive.zip": bytes(0x50, 0x4b, 3, 4, 20, 0, 0, 0, 8, 0, 1, 2, 3, 4),
  "damaged.png": bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1),
  "picture.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  "book.ipynb":
    '{"cells":[{"cell_type":"code","source":["x = 1"],"metadata":{},"outputs":[]}],"metadata":{},"nbformat":4,"nbformat_minor":5}',
  "sound.mp3": bytes(0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xfb, 0x90, 0),
  "tree/a.txt": "a\n",
  "tree/b.bin": bytes(0, 1, 2, 3),
  "tree/deep/c.txt": "c\n",
  "tree/deep/deeper/d.txt": "d\n",
  "new.txt": "new\n",
};
const KINDS = Object.keys(FILES).filter((name) => !name.includes("/") && !/^(?:new|twice)/u.test(name));

/** A situation: what the agent did before, and what it wants, in canonical tools. */
interface Situation {
  readonly name: string;
  readonly before?: readonly AgentCall[];
  /** What another program writes before the call. */
  readonly elsewhere?: string;
  readonly wants: AgentCall;
  /** True for a want that another call serves better: the text names a tool, whose call has to succeed. */
  readonly otherCall?: true;
}

const at = (name: string): string => `/w/${name}`;
const call = (tool: string, args: Args): AgentCall => ({ tool, args });
const write = (name: string): AgentCall => call("write_file", { path: at(name), content: "mine\n" });
const remove = (name: string): AgentCall => call("delete", { path: at(name) });
const onto = (tool: string, name: string): AgentCall =>
  call(tool, { source: at("new.txt"), destination: at(name) });
const edit = (name: string, old: string): AgentCall =>
  call("edit_file", { path: at(name), old_text: old, new_text: "changed" });
const patch = (text: string): AgentCall => call("apply_patch", { patch: text });
const part = call("read_file", { path: at("long.txt"), start_line: 1, max_lines: 3 });
const whole = (name: string): AgentCall => call("read_file", { path: at(name) });

const SITUATIONS: readonly Situation[] = [
  ...KINDS.flatMap((name) => [
    { name: `write over ${name}, which was not read`, wants: write(name) },
    { name: `delete ${name}, which was not read`, wants: remove(name) },
    { name: `delete ${name} after reading it`, before: [whole(name)], wants: remove(name) },
    { name: `write over ${name} after reading it`, before: [whole(name)], wants: write(name) },
    { name: `copy onto ${name}`, wants: onto("copy", name) },
    { name: `move onto ${name}`, wants: onto("move", name) },
    {
      name: `delete ${name}, which changed after a read`,
      before: [whole(name)],
      elsewhere: name,
      wants: remove(name),
    },
    {
      name: `write over ${name}, which changed after a read`,
      before: [whole(name)],
      elsewhere: name,
      wants: write(name),
    },
  ]),
  { name: "edit what was not read", wants: edit("text.txt", "two") },
  { name: "edit beyond the read lines", before: [part], wants: edit("long.txt", "line 30\n") },
  {
    name: "edit what changed",
    before: [whole("text.txt")],
    elsewhere: "text.txt",
    wants: edit("text.txt", "two"),
  },
  { name: "write after a page", before: [part], wants: write("long.txt") },
  { name: "delete after a page", before: [part], wants: remove("long.txt") },
  { name: "delete a full directory", wants: remove("tree") },
  { name: "delete a full directory at once", wants: call("delete", { path: at("tree"), recursive: true }) },
  {
    name: "patch what was not read",
    wants: patch(`--- a/text.txt\n+++ b/text.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n`),
  },
  {
    name: "delete by a patch",
    wants: patch("--- a/text.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"),
  },
  {
    name: "delete a binary file by a patch",
    wants: patch("*** Begin Patch\n*** Delete File: binary.bin\n*** End Patch\n"),
  },
  { name: "make a directory that exists", wants: call("mkdir", { path: at("tree") }) },
  { name: "edit what stands twice", before: [whole("twice.txt")], wants: edit("twice.txt", "same") },
  { name: "read a misspelt name", wants: whole("textt.txt") },
  {
    name: "write a comment for the rest",
    before: [whole("long.txt")],
    wants: call("write_file", {
      path: at("long.txt"),
      content: "line 1\n// ... rest of the file unchanged ...\n",
    }),
  },
  { name: "read a directory", wants: whole("tree"), otherCall: true },
  { name: "list a file", wants: call("list_directory", { path: at("text.txt") }), otherCall: true },
  { name: "read a binary file", wants: whole("binary.bin"), otherCall: true },
];

/** The canonical tools as a preset. */
const CANONICAL = {
  name: "canonical",
  tools: TOOLS.map((tool) => ({
    name: tool.name,
    tool,
    names: CANONICAL_NAMES,
    inputSchema: tool.inputSchema,
    expand: (args: Args) => ({ tool, args }),
  })),
} as unknown as Preset;
const optionOf = (preset: Preset): "canonical" | Preset => (preset === CANONICAL ? "canonical" : preset);
const PRESETS: readonly Preset[] = [...PRESET_NAMES.map((name) => presetOf(name) ?? CANONICAL), leanPreset()];

/** Calls whose form in a preset is not that of its parameters: preset and canonical tool → tool and arguments. */
const FORMS: Readonly<Record<string, (args: Args) => AgentCall>> = {
  "mcp edit_file": ({ path, old_text, new_text }) =>
    call("edit_file", { path, edits: [{ oldText: old_text, newText: new_text }] }),
  "adk edit_file": ({ path, old_text, new_text }) =>
    call("edit_file", { path, edits: [{ old_text, new_text }] }),
  "codex apply_patch": ({ patch: input }) => call("apply_patch", { input }),
  "anthropic read_file": ({ path }) => call("str_replace_based_edit_tool", { command: "view", path }),
  "anthropic write_file": ({ path, content }) =>
    call("str_replace_based_edit_tool", { command: "create", path, file_text: content }),
  "anthropic edit_file": ({ path, old_text, new_text }) =>
    call("str_replace_based_edit_tool", {
      command: "str_replace",
      path,
      old_str: old_text,
      new_str: new_text,
    }),
  "anthropic list_directory": ({ path }) => call("str_replace_based_edit_tool", { command: "view", path }),
};

/** A model with the tools of one preset. It remembers nothing but its last answer. */
class Agent {
  readonly #ws: Workspace;
  readonly #preset: Preset;

  constructor(ws: Workspace, preset: Preset) {
    this.#ws = ws;
    this.#preset = preset;
  }

  /** Returns the call of the preset that means a canonical call; undefined where it has none. */
  own({ tool: name, args }: AgentCall): AgentCall | undefined {
    const form = FORMS[`${this.#preset.name} ${name}`];
    if (form !== undefined) return form(args);
    for (const tool of this.#preset.tools) {
      // A server does not offer every tool of its preset, and texts name none that it does not.
      if (tool.tool.name !== name || tool.names.tool(name) === undefined) continue;
      const given = this.#renamed(tool, args);
      if (given !== undefined) return { tool: tool.name, args: given };
    }
    return undefined;
  }

  #renamed(tool: PresetTool, args: Args): Args | undefined {
    const properties = Object.keys(tool.inputSchema.properties);
    const entries = Object.entries(args).map(([key, value]) => [tool.names.argument(key), value] as const);
    return entries.every(([key]) => key !== undefined && properties.includes(key))
      ? Object.fromEntries(entries)
      : undefined;
  }

  async run({ tool, args }: AgentCall): Promise<ToolResult> {
    const found = toolsFor(this.#ws, optionOf(this.#preset)).find(({ name }) => name === tool);
    expect(found, `a text names ${tool}, which the agent has not`).toBeDefined();
    return (found as NonNullable<typeof found>).execute(args);
  }

  /** Calls the tool that a text names, on a path. */
  runOn(name: string, path: string): Promise<ToolResult> {
    return this.run(this.callOn(name, path));
  }

  callOn(name: string, path: string): AgentCall {
    const tool = this.#preset.tools.find((one) => one.name === name);
    expect(tool, `a text names ${name}, which the agent has not`).toBeDefined();
    const argument = (tool as PresetTool).names.argument("path") ?? "path";
    return { tool: name, args: { [argument]: path } };
  }

  /** Reads a file to its end, as far as it can be read. */
  async readAll(path: string): Promise<void> {
    const read = this.own(call("read_file", { path }));
    await this.run(read as AgentCall);
  }
}

const absolute = (path: string): string => (path.startsWith("/") ? path : at(path));

/**
 * The remedies that a text can name. Each returns the call to make next, after what it has done; `other` where another call
 * has served the agent; undefined where the text does not name it.
 */
type Remedy = (
  agent: Agent,
  wants: AgentCall,
  failed: ToolResult & { ok: false },
) => Promise<AgentCall | "other" | undefined>;

/** Returns a value with `change` made to each text in it. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)]));
}

const pathOf = ({ error }: ToolResult & { ok: false }): string =>
  absolute(String(error.details?.["file"] ?? error.path));

const REMEDIES: readonly Remedy[] = [
  (_agent, _wants, failed) => {
    const { retry, retries } = (failed.error.details ?? {}) as {
      readonly retry?: SentCall;
      readonly retries?: SentCall[];
    };
    const sent = retry ?? retries?.[0];
    return Promise.resolve(sent === undefined ? undefined : { tool: sent.tool, args: sent.arguments });
  },
  async (_agent, { tool, args }, { text }) => {
    const [, name, value] = /(?:set|pass) (\w+)(?:: |=)(true|"[^"]*")/u.exec(text) ?? [];
    if (name === undefined || value === undefined) return undefined;
    expect(args[name], `the text asks for ${name} again`).toBeUndefined();
    return { tool, args: { ...args, [name]: JSON.parse(value) } };
  },
  async (_agent, { tool, args }, { text }) => {
    if (!/\bset replace_all\b/iu.test(text)) return undefined;
    return { tool, args: { ...args, replace_all: true } };
  },
  async (_agent, { tool, args }, { text }) => {
    // The agent quotes the line below as well, and the one that it wants to change.
    if (!/surrounding lines|must be unique|is unique|expected 1 occurrences/iu.test(text)) return undefined;
    return {
      tool,
      args: mapTexts(args, (one) => (/^(?:same|changed)$/u.test(one) ? `${one}\nother` : one)) as Args,
    };
  },
  async (_agent, { tool, args }, { text }) => {
    // The agent writes the lines for which its comment stood.
    if (!/send the whole|send the lines themselves/u.test(text)) return undefined;
    return {
      tool,
      args: mapTexts(args, (one) =>
        one.startsWith("line 1\n//") ? LINES.replace("line 1", "first") : one,
      ) as Args,
    };
  },
  async (_agent, { tool, args }, { text, error }) => {
    if (!/is a directory; name a file in it/u.test(text)) return undefined;
    return { tool, args: mapTexts(args, (one) => (one === error.path ? `${one}/a.txt` : one)) as Args };
  },
  async (agent, wants, failed) => {
    const [, tool] = /delete it first with (\w+)/u.exec(failed.text) ?? [];
    if (tool === undefined) return undefined;
    await walk(agent, agent.callOn(tool, pathOf(failed)), false);
    return wants;
  },
  async (_agent, { tool, args }, { text, error }) => {
    if (!/choose another name/u.test(text)) return undefined;
    return { tool, args: mapTexts(args, (one) => (one === error.path ? `${one}.other` : one)) as Args };
  },
  async (_agent, { tool, args }, { text, error }) => {
    const [, meant] = /[Dd]id you mean '([^']+)'/u.exec(text) ?? [];
    if (meant === undefined) return undefined;
    const entries = Object.entries(args).map(([key, value]) => [
      key,
      value === error.path ? absolute(meant) : value,
    ]);
    return { tool, args: Object.fromEntries(entries) };
  },
  async (agent, wants, failed) => {
    const [, tool] = /look at it with (\w+) first/u.exec(failed.text) ?? [];
    if (tool === undefined) return undefined;
    expect((await agent.runOn(tool, pathOf(failed))).ok).toBe(true);
    return wants;
  },
  async (agent, wants, failed) => {
    const [, directory, tool] = /list '([^']+)' with (\w+) first/u.exec(failed.text) ?? [];
    if (directory === undefined || tool === undefined) return undefined;
    expect((await agent.runOn(tool, absolute(directory))).ok).toBe(true);
    return wants;
  },
  async (agent, wants, failed) => {
    if (!/read (?:it|the rest|the file) (?:first|again)|read it again/u.test(failed.text)) return undefined;
    await agent.readAll(pathOf(failed));
    return wants;
  },
  async (agent, _wants, failed) => {
    const [, tool] = /(?:; |use )(\w+) (?:to (?:see|read)|tells)/u.exec(failed.text) ?? [];
    if (tool === undefined) return undefined;
    expect((await agent.runOn(tool, pathOf(failed))).ok).toBe(true);
    return "other";
  },
];

/** Opens what the agent of a situation finds, as it is when it makes its call; undefined where the preset has no such call. */
async function begin(preset: Preset, history: boolean, { before = [], elsewhere, wants }: Situation) {
  const seed = Object.entries(FILES).map(([name, content]) => [at(name), content] as const);
  const backend = new MemoryBackend(Object.fromEntries(seed));
  const ws = await openWorkspace({
    backend,
    root: "/w",
    guard: "refuse",
    history,
    preset: optionOf(preset),
    permissions: { mode: "prompt", ask: () => "yes" },
  });
  afterThisTest(() => ws.close());
  const agent = new Agent(ws, preset);
  const wanted = agent.own(wants);
  if (wanted === undefined) return undefined;
  for (const one of before) {
    const made = agent.own(one);
    if (made === undefined) return undefined;
    await agent.run(made);
  }
  if (elsewhere !== undefined) {
    const changed = FILES[elsewhere] as string | Uint8Array;
    const more = typeof changed === "string" ? `${changed}more\n` : bytes(...changed, 0);
    await backend.writeBytes(at(elsewhere), typeof more === "string" ? new TextEncoder().encode(more) : more);
  }
  return { agent, wanted };
}

/** The maximum number of remedies for one call. A directory takes one for each directory in it. */
const MAX_STEPS = 8;

/** Follows the texts until the call succeeds. Returns the codes of the refusals on the way. */
async function walk(agent: Agent, wanted: AgentCall, otherCall: boolean): Promise<readonly string[]> {
  let next = wanted;
  const met: string[] = [];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const result = await agent.run(next);
    if (result.ok) return met;
    met.push(result.error.code);
    let remedy: AgentCall | "other" | undefined;
    for (const one of REMEDIES) {
      remedy = await one(agent, next, result);
      if (remedy !== undefined) break;
    }
    if (remedy === "other" && otherCall) return met;
    if (remedy === undefined || remedy === "other") throw new Error(`a dead end: ${result.text}`);
    next = remedy;
  }
  throw new Error(`no end after ${met.join(", ")}`);
}

/** Situations in which a preset has no call that helps, each with the reason. */
const KNOWN_ENDS: readonly {
  readonly of: (preset: Preset) => boolean;
  readonly situation: RegExp;
  readonly reason: string;
}[] = [
  {
    of: ({ tools }) => tools[0]?.names.tool("stat") === undefined,
    situation: /^read a binary file$/u,
    reason: "no tool tells more of the file than the text does",
  },
  {
    of: ({ name }) => name === "anthropic",
    situation: /^write|^read a misspelt name$/u,
    reason: "the API defines these texts, and its `create` makes new files only",
  },
];

const walked = new Set<string>();

/** The situations of a preset: by day half of them, and the other half in the preset that follows. */
const situationsOf = (preset: Preset, history: boolean): readonly Situation[] =>
  share(SITUATIONS, 2, PRESETS.indexOf(preset) + Number(history));

describe.each(PRESETS)("preset $name", (preset) => {
  describe.each([true, false])("with history: %s", (history) => {
    test.each(situationsOf(preset, history))("$name", async (situation) => {
      const begun = await begin(preset, history, situation);
      if (begun === undefined) return;
      if (KNOWN_ENDS.some(({ of, situation: ends }) => of(preset) && ends.test(situation.name))) return;
      for (const code of await walk(begun.agent, begun.wanted, situation.otherCall === true))
        walked.add(code);
    });
  });
});

/** The codes of refusals whose remedy is no call of an agent, each with the reason. */
const WITHOUT_CALL: Readonly<Partial<Record<(typeof CODES)[number], string>>> = {
  UNKNOWN_TOOL: "a client offers no tool that there is not; the text names the nearest",
  OUTSIDE_ALLOWED: "the host grants another root",
  PERMISSION_DENIED: "the owner of the machine changes permissions",
  GRANT_DENIED: "a person grants the directory or the secret",
  APPROVAL_DENIED: "the reviewer's words say what to do instead",
  HOOK_BLOCKED: "the hook's words say what to do instead",
  PROTECTED_PATH: "the host allows the place",
  READ_ONLY: "the host opens the workspace for changes",
  CANCELLED: "the caller cancelled, and knows why",
  TIMEOUT: "the caller narrows the call, or repeats it",
  LOCK_TIMEOUT: "the same call later",
  IO_ERROR: "the fault is of the system",
  NO_SPACE: "a person makes room",
  LOOP: "the caller names the file itself",
  NAME_TOO_LONG: "the caller chooses a shorter name",
  SAME_FILE: "the caller chooses another destination",
  NOT_REGULAR_FILE: "pipes and devices are never opened",
  UNSUPPORTED_FORMAT: "a person converts the file or installs a package",
  TOO_LARGE: "the call takes a page; the limits are the host's",
  ENCODING_ERROR: "the content has to be another one, or in another encoding",
  INVALID_REGEX: "the pattern has to be another one",
  INVALID_GLOB: "the pattern has to be another one",
  MATCH_NOT_FOUND: "the text shows the lines that are there; the model quotes them",
  PATCH_FAILED: "the text shows the lines that are there; the model quotes them",
  NO_CHANGE: "the file is as it was wanted",
  LIMIT_EXCEEDED: "the host raises the budget",
  UNSUPPORTED_OPERATION: "the storage cannot do it",
  SANDBOX_SETUP_FAILED: "the host opens the workspace otherwise",
  UNSUPPORTED_PLATFORM: "the host installs an engine",
  INTERNAL: "a defect",
};

test("every code was met on a walk, or its remedy is no call of an agent", () => {
  expect(CODES.filter((code) => !walked.has(code) && WITHOUT_CALL[code] === undefined)).toEqual([]);
});
