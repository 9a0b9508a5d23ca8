/** Refused edits and patches carry a complete call that works when it is sent as it stands. */
import { describe, expect, test } from "vitest";
import type { ToolResult, WorkspaceOptions } from "../../js/index.node.ts";
import { open } from "../presets/harness.ts";
import { KINDS, place } from "./harness.ts";

const FILE = `function area(width, height) {
  const product = width * height;
  log(product);
  return product;
}

function volume(width, height, depth) {
  log("0 – 9");
  return area(width, height) * depth;
}
`;

type Arguments = Readonly<Record<string, unknown>>;
interface Retry {
  readonly tool: string;
  readonly arguments: Arguments;
}

const retryOf = ({ error }: ToolResult): Retry | undefined => error?.details?.["retry"] as Retry | undefined;
const retriesOf = ({ error }: ToolResult): readonly Retry[] =>
  (error?.details?.["retries"] as readonly Retry[] | undefined) ?? [];

/** The wrong text of one edit: a number of blanks that the file does not have, under each mode. */
const OLD = "const product  = width * height;\n  log(product);";
const NEW = "const product  = width + height;\n  log(product);";
/** The old text with a typing error, for presets that forgive blanks. */
const TYPO = OLD.replace("product", "prodcut");
const MADE = FILE.replace("width * height", "width + height");

/** The edit in the names of each preset: the tool, and its arguments but for the path. */
const EDITS: readonly (readonly [preset: string, tool: string, path: string, args: Arguments])[] = [
  ["canonical", "edit_file", "path", { old_text: OLD, new_text: NEW, match: "exact" }],
  ["claude", "Edit", "file_path", { old_string: OLD, new_string: NEW }],
  ["claude", "MultiEdit", "file_path", { edits: [{ old_string: OLD, new_string: NEW }] }],
  [
    "anthropic",
    "str_replace_based_edit_tool",
    "path",
    { command: "str_replace", old_str: OLD, new_str: NEW },
  ],
  ["gemini-cli", "replace", "file_path", { instruction: "add", old_string: TYPO, new_string: NEW }],
  ["gemini", "replace", "file_path", { old_string: OLD, new_string: NEW }],
  ["fluent", "edit_file", "path", { old_string: OLD, new_string: NEW }],
  ["tinyagent", "update_file", "file_path", { old_content: OLD, new_content: NEW }],
  ["amplifier", "edit_file", "file_path", { old_string: OLD, new_string: NEW }],
  ["go", "fs_edit", "path", { old_text: OLD, new_text: NEW }],
  ["go", "fs_patch", "path", { hunks: [{ old_text: OLD, new_text: NEW }] }],
  ["mcp", "edit_file", "path", { edits: [{ oldText: TYPO, newText: NEW }] }],
  ["adk", "edit_file", "path", { edits: [{ oldText: TYPO, newText: NEW }] }],
];

/** Opens a workspace with the file, under a preset. */
async function openWith(preset: string): Promise<{
  readonly call: (tool: string, args: Arguments) => Promise<ToolResult>;
  readonly text: () => Promise<string>;
}> {
  const { ws, backend } = await open(
    preset as WorkspaceOptions["preset"],
    { "f.js": FILE },
    { guard: "off", history: false },
  );
  return {
    call: (tool, args) => ws.call(tool as "stat", args as never) as Promise<ToolResult>,
    text: async () => new TextDecoder().decode(await backend.readBytes("/w/f.js")),
  };
}

describe("the retry of a refused edit", () => {
  test.each(EDITS)("of preset %s (%s) is a call of that preset", async (preset, tool, path, args) => {
    const { call, text } = await openWith(preset);
    const sent = { [path]: "/w/f.js", ...args };
    const refused = await call(tool, sent);
    expect(refused.ok, refused.text).toBe(false);
    const retry = retryOf(refused);
    expect(retry?.tool).toBe(tool);
    expect(Object.keys(retry?.arguments ?? {}).sort()).toEqual(Object.keys(sent).sort());
    expect(await call(retry!.tool, retry!.arguments)).toMatchObject({ ok: true });
    expect(await text()).toBe(MADE);
  });

  test("shows the corrected text, and the new text where it was corrected", async () => {
    const { call } = await openWith("canonical");
    const { text } = await call("edit_file", {
      path: "f.js",
      old_text: "  const product = width * heigth;",
      new_text: "  const product = width + height;",
    });
    expect(text).toContain("Send this as old_text:\n  const product = width * height;");
    expect(text).not.toContain("and this as new_text");
    const other = await call("edit_file", {
      path: "f.js",
      old_text: 'function volume(width, height) {\n  log("0 – 9");\n  return area(width, height) * depth;',
      new_text: 'function space(width, height) {\n  log("0 – 9");\n  return area(width, height) * depth;',
    });
    expect(other.text).toContain("and this as new_text:\nfunction space(width, height, depth) {");
  });

  test("in the names of the preset", async () => {
    const { call } = await openWith("claude");
    const { text } = await call("Edit", { file_path: "/w/f.js", old_string: OLD, new_string: NEW });
    expect(text).toContain("Send this as old_string:\n");
  });

  test("is one call for each of several places", async () => {
    const { call, text } = await openWith("claude");
    const refused = await call("Edit", {
      file_path: "/w/f.js",
      old_string: "(width, height",
      new_string: "(w, h",
    });
    expect(retryOf(refused)).toBeUndefined();
    const [first, second, third, ...others] = retriesOf(refused);
    expect(others).toEqual([]);
    expect(first?.arguments["old_string"]).toContain("function area");
    expect(third?.arguments["old_string"]).toContain("return area");
    await call(second!.tool, second!.arguments);
    expect(await text()).toBe(FILE.replace("volume(width, height", "volume(w, h"));
  });

  test("of several edits has all of them, without those that change nothing", async () => {
    const { call, text } = await openWith("claude");
    const edits = [
      { old_string: "log(product);", new_string: "trace(product);" },
      { old_string: "return product;", new_string: "return product;" },
      {
        old_string: "\treturn area(width, height) * depth",
        new_string: "\treturn area(width, height) + depth",
      },
    ];
    const refused = await call("MultiEdit", { file_path: "/w/f.js", edits });
    const retry = retryOf(refused)!;
    expect((retry.arguments["edits"] as readonly unknown[])[0]).toEqual(edits[0]);
    expect(await call(retry.tool, retry.arguments)).toMatchObject({ ok: true });
    expect(await text()).toBe(
      FILE.replace("log(product)", "trace(product)").replace(") * depth", ") + depth"),
    );
  });

  test("of a batch is the whole batch", async () => {
    const { call, text } = await openWith("canonical");
    const operations = [
      { tool: "write_file", args: { path: "g.js", content: "x\n" } },
      { tool: "edit_file", args: { path: "f.js", old_text: OLD, new_text: NEW, match: "exact" } },
    ];
    const retry = retryOf(await call("batch", { operations }))!;
    expect(retry.tool).toBe("batch");
    expect(await call(retry.tool, retry.arguments)).toMatchObject({ ok: true });
    expect(await text()).toBe(MADE);
  });

  test.each([
    ["the same text twice", "log(product);", "log(product);"],
    ["an edit that is made already", "const result = width * height;", "const product = width * height;"],
    ["text that is nowhere", "class Point {\n  x = 0;\n}", "class P {}"],
    [
      "a changed word that reads otherwise",
      "  return area(width, height) / depth;",
      "  return area(width, height) % depth;",
    ],
  ])("is missing for %s", async (_, old_text, new_text) => {
    const { call } = await openWith("canonical");
    const refused = await call("edit_file", { path: "f.js", old_text, new_text });
    expect(refused.ok).toBe(false);
    expect([retryOf(refused), retriesOf(refused)]).toEqual([undefined, []]);
  });

  test.each(KINDS)("keeps line ends, byte order mark and encoding (%s)", async (kind) => {
    const crlf = `\ufeff${FILE.replaceAll("\n", "\r\n")}`;
    const bytes = Buffer.from(crlf, "utf16le");
    const { ws, bytes: now } = await place(kind, { "f.js": bytes });
    const refused = await ws.call("edit_file", {
      path: "f.js",
      old_text: OLD,
      new_text: NEW,
      match: "exact",
    });
    const retry = retryOf(refused)!;
    expect(await ws.call(retry.tool as "stat", retry.arguments as never)).toMatchObject({ ok: true });
    expect(Buffer.from((await now("f.js"))!).toString("utf16le")).toBe(
      crlf.replace("width * height", "width + height"),
    );
  });
});

const envelope = (body: string): string => `*** Begin Patch\n*** Update File: f.js\n${body}\n*** End Patch`;
const OUT_OF_ORDER =
  "@@\n-  return area(width, height) * depth;\n+  return area(width, height) + depth;\n@@\n-  log(product);\n+  trace(product);";

describe("the retry of a refused patch", () => {
  test.each([
    ["canonical", "patch"],
    ["codex", "input"],
  ])("of preset %s is a call of that preset", async (preset, argument) => {
    const { call, text } = await openWith(preset);
    const refused = await call("apply_patch", { [argument]: envelope(OUT_OF_ORDER) });
    expect(refused.error?.details?.["reason"]).toBe("out_of_order");
    expect(refused.text).toContain("Send this patch instead:\n*** Begin Patch");
    const retry = retryOf(refused)!;
    expect(Object.keys(retry.arguments)).toEqual([argument]);
    expect(await call(retry.tool, retry.arguments)).toMatchObject({ ok: true });
    expect(await text()).toBe(
      FILE.replace("log(product)", "trace(product)").replace(") * depth", ") + depth"),
    );
  });

  test("is one call for each of several places", async () => {
    const { call, text } = await openWith("canonical");
    const patch = envelope(
      "@@\n-  const product = width * height;\n+  const product = 0;\n@@\n   log(product);",
    );
    expect(await call("apply_patch", { patch })).toMatchObject({ ok: true });
    const twice = `${await text()}${FILE}`;
    const { call: again } = await openWith("canonical");
    await again("write_file", { path: "f.js", content: twice, overwrite: true });
    const refused = await again("apply_patch", {
      patch: envelope("@@\n-  log(product);\n+  trace(product);"),
    });
    expect(refused.error?.details?.["reason"]).toBe("ambiguous");
    expect(retriesOf(refused)).toHaveLength(2);
    const [first] = retriesOf(refused);
    expect(await again(first!.tool, first!.arguments)).toMatchObject({ ok: true });
  });

  test("is missing where nothing is like the hunk", async () => {
    const { call } = await openWith("canonical");
    const refused = await call("apply_patch", { patch: envelope("@@\n-  nothing();\n+  something();") });
    expect([retryOf(refused), retriesOf(refused)]).toEqual([undefined, []]);
  });
});

/** Patches as models send them, with the results of their retries. */
const REFUSED_PATCHES: readonly (readonly [kind: string, body: string, ...made: readonly string[]])[] = [
  [
    "context lines without their blank",
    "@@\nfunction area(width, height) {\n-  const product = width * height;\n+  const product = width + height;\n  log(product);\n  return product;\n}",
    MADE,
  ],
  [
    "a diff of a listing, with the marks behind the blank",
    "@@ -1,3 +1,3 @@\n 1\tfunction area(width, height) {\n -\t  const product = width * height;\n +\t  const product = width + height;\n 3\t  log(product);",
    MADE,
  ],
  [
    "a listing with hashes, unmarked",
    "@@\n1:k3x| function area(width, height) {\n-2:9ab|   const product = width * height;\n+2:9ab|   const product = width + height;\n3:0cd|   log(product);",
    MADE,
  ],
  [
    "context as a hunk of its own, without its indentation",
    "@@ function area(width, height) {\n@@\n const product = width * height;\n log(product);\n@@\n-return product;\n+return area;\n@@\n-  const product = width * height;\n+  const product = width + height;",
    MADE.replace("return product", "return area"),
  ],
  [
    "a hunk of which one change is made already",
    "@@\n function area(width, height) {\n-  const product = sum(width, height);\n+  const product = width * height;\n   log(product);\n-  return product;\n+  return area;",
    FILE.replace("return product", "return area"),
  ],
  [
    "a hunk that is sent twice",
    "@@\n   log(product);\n-  return product;\n+  return area;\n@@\n   log(product);\n-  return product;\n+  return area;",
    FILE.replace("return product", "return area"),
  ],
  [
    "an anchor of a listing, sent twice",
    "@@ @@ 1:k3x| function area(width, height) {\n@@ @@ 1:k3x| function area(width, height) {\n+  check(width);",
    FILE.replace("height) {\n  const", "height) {\n  check(width);\n  const"),
  ],
  [
    "an anchor that may be the line to replace",
    "@@ LINE:4:0cd|   return product;\n+  return products;",
    FILE.replace("return product;", "return product;\n  return products;"),
    FILE.replace("return product;", "return products;"),
  ],
  [
    "context that is nowhere around a line that stands once",
    "@@\n one of them\n two of them\n three of them\n-  const product = width * height;\n+  const product = width + height;\n four of them\n five of them\n six of them",
    MADE,
  ],
];

describe("a patch as models send it is refused with its retry", () => {
  test.each(REFUSED_PATCHES)("%s", async (_, body, ...made) => {
    const results: string[] = [];
    for (const at of made.keys()) {
      const { ws, text } = await place("memory", { "f.js": FILE });
      const refused = await ws.call("apply_patch", { patch: envelope(body) });
      expect(refused.error?.code, refused.text).toBe("PATCH_FAILED");
      expect(await text("f.js")).toBe(FILE);
      const retry = retryOf(refused) ?? retriesOf(refused)[at];
      expect(retriesOf(refused)).toHaveLength(made.length > 1 ? made.length : 0);
      expect(retry, refused.text).toBeDefined();
      const sent = await ws.call(retry!.tool as "stat", retry!.arguments as never);
      expect(sent).toMatchObject({ ok: true });
      results.push((await text("f.js"))!);
    }
    expect(results).toEqual(made);
  });

  test("also in a batch, where the patch lacks the blanks of its context", async () => {
    const { call, text } = await openWith("canonical");
    const operations = [
      { tool: "write_file", args: { path: "g.js", content: "x\n" } },
      { tool: "apply_patch", args: { patch: envelope(REFUSED_PATCHES[0]![1]) } },
    ];
    const refused = await call("batch", { operations });
    const retry = retryOf(refused)!;
    expect(retry, refused.text).toMatchObject({ tool: "batch" });
    expect(await call(retry.tool, retry.arguments)).toMatchObject({ ok: true });
    expect(await text()).toBe(MADE);
  });

  test.each([
    [
      "a replaced line that is neither there nor made",
      "@@\n function area(width, height) {\n-  const a = 1;\n+  const a = 2;\n   log(product);\n+  done();",
    ],
    [
      "a torn line",
      "@@\n-functi\non area(width, height) {\n-  log(product);\n+function area(width, height) {\n+  trace(product);",
    ],
    [
      "nothing but other numbers",
      "@@\n 2|  const product = width * height;\n-3|  log(product);\n 4|  return product;\n+3|  return product;",
    ],
  ])("without a retry for %s", async (_, body) => {
    const { call, text } = await openWith("canonical");
    const refused = await call("apply_patch", { patch: envelope(body) });
    expect(refused.ok).toBe(false);
    expect([retryOf(refused), retriesOf(refused)]).toEqual([undefined, []]);
    expect(await text()).toBe(FILE);
  });
});

describe("an edit as models send it is refused with its retry", () => {
  test.each([
    [
      "a listing that lost its first number",
      "9ab|   const product = width * height;\n3:0cd|   log(product);",
      "9ab|   const product = width + height;\n3:0cd|   log(product);",
    ],
    [
      "the backslashes of a regular expression",
      "const product = width \\* height;\n  log\\(product\\);",
      "const product = width + height;\n  log(product);",
    ],
  ])("%s", async (_, old_text, new_text) => {
    const { call, text } = await openWith("canonical");
    const refused = await call("edit_file", { path: "f.js", old_text, new_text });
    expect(refused.ok, refused.text).toBe(false);
    const retry = retryOf(refused)!;
    expect(retry, refused.text).toBeDefined();
    expect(await call(retry.tool, retry.arguments)).toMatchObject({ ok: true });
    expect(await text()).toBe(MADE);
  });
});

describe("what an edit repairs by itself", () => {
  test.each([
    [
      "HTML entities",
      "if (a < b && c) {}\n",
      "if (a &lt; b &amp;&amp; c) {}",
      "if (a &gt; b &amp;&amp; c) {}",
      "if (a > b && c) {}\n",
    ],
    ["Unicode escapes", "say('a – b');\n", "say('a \\u2013 b');", "say('a \\u2014 b');", "say('a — b');\n"],
    [
      "characters that the file escapes",
      "say('a \\u2013 b');\n",
      "say('a – b');",
      "say('a — b');",
      "say('a \\u2014 b');\n",
    ],
    ["nothing of what the file has", "a &lt; b;\n", "a &lt; b;", "a &gt; b;", "a &gt; b;\n"],
  ])("%s", async (repair, file, old_text, new_text, made) => {
    const { ws, text } = await place("memory", { f: file });
    const result = await ws.call("edit_file", { path: "f", old_text, new_text });
    expect(await text("f")).toBe(made);
    expect(result.text.includes(`, without ${repair}]`)).toBe(repair !== "nothing of what the file has");
  });
});
