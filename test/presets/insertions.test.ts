/** Lines that presets add without context: behind a line by its number, or at the end of a file. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type Workspace } from "../../js/index.node.ts";

const FILES = {
  "/w/f": "one\ntwo\nthree\nfour\n",
  "/w/crlf": "a\r\nb\r\n",
  "/w/open": "a\nb",
  "/w/empty": "",
};

async function opened(preset: "anthropic" | "codex", files: Record<string, string> = FILES) {
  const backend = new MemoryBackend(files);
  const ws: Workspace = await openWorkspace({ backend, root: "/w", preset, guard: "off" });
  const text = (name: string): string | undefined => {
    const entry = backend.dump()[`/w/${name}`];
    return entry?.type === "file" ? Buffer.from(entry.b64, "base64").toString() : undefined;
  };
  return { ws, text };
}

describe.each([
  ["str_replace_based_edit_tool", "", FILES],
  [
    "memory",
    "/memories/",
    Object.fromEntries(
      Object.entries(FILES).map(([path, text]) => [path.replace("/w/", "/w/memories/"), text]),
    ),
  ],
] as const)("insert by %s", (tool, below, files) => {
  const at = (name: string): string => (below === "" ? name : `memories/${name}`);
  const insert = (ws: Workspace, name: string, insert_line: number, insert_text = "new\n") =>
    ws.call(tool, { command: "insert", path: `${below}${name}`, insert_line, insert_text });

  test.each([
    ["f", 0, "new\none\ntwo\nthree\nfour\n"],
    ["f", 4, "one\ntwo\nthree\nfour\nnew\n"],
    ["crlf", 1, "a\r\nnew\r\nb\r\n"],
    ["open", 2, "a\nb\nnew\n"],
    ["empty", 0, "new\n"],
  ])("into %s at %d", async (name, line, after) => {
    const { ws, text } = await opened("anthropic", files);
    const result = await insert(ws, name, line);
    expect(result.ok, result.text).toBe(true);
    expect(text(at(name))).toBe(after);
  });

  test.each([0, 1, 7])("a file that is missing is not made (line %d)", async (line) => {
    const { ws, text } = await opened("anthropic", files);
    const result = await insert(ws, "missing", line);
    expect(result.text).toBe(`Error: The path ${below}missing does not exist. Please provide a valid path.`);
    expect(text(at("missing"))).toBeUndefined();
  });

  test.each([
    ["f", 99, 4],
    ["f", 5, 4],
    ["open", 3, 2],
  ])("into %s at %d is out of range, in the documented words", async (name, line, last) => {
    const { ws, text } = await opened("anthropic", files);
    const before = text(at(name));
    const result = await insert(ws, name, line);
    expect(result.text).toContain(
      `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${last}]`,
    );
    expect(result.text).not.toMatch(/hunk|patch/);
    expect(text(at(name))).toBe(before);
  });
});

describe("additions without context in preset codex", () => {
  const patch = (body: string): string => `*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`;

  test.each([
    ["are added at the end of the file", "@@\n+five\n+six", "one\ntwo\nthree\nfour\nfive\nsix\n"],
    ["without @@", "+five", "one\ntwo\nthree\nfour\nfive\n"],
    ["with *** End of File", "@@\n+five\n*** End of File", "one\ntwo\nthree\nfour\nfive\n"],
    ["before a chunk that removes lines", "@@\n+five\n@@\n one\n-two\n+2", "one\n2\nthree\nfour\nfive\n"],
    ["behind an anchor stay there", "@@ two\n+new", "one\ntwo\nnew\nthree\nfour\n"],
  ])("%s", async (_title, body, after) => {
    const { ws, text } = await opened("codex");
    const result = await ws.call("apply_patch", { input: patch(body) });
    expect(result.ok, result.text).toBe(true);
    expect(text("f")).toBe(after);
  });

  test("are not added twice", async () => {
    const { ws, text } = await opened("codex");
    await ws.call("apply_patch", { input: patch("@@\n+five") });
    const again = await ws.call("apply_patch", { input: patch("@@\n+five") });
    expect(again.text).toContain("already applied");
    expect(text("f")).toBe("one\ntwo\nthree\nfour\nfive\n");
  });

  test("our own tool refuses them, since they name no place", async () => {
    const backend = new MemoryBackend(FILES);
    const ws = await openWorkspace({ backend, root: "/w" });
    expect((await ws.call("apply_patch", { patch: patch("@@\n+five") })).error?.code).toBe("PATCH_FAILED");
  });
});

test("hunks alone do not make a file that is missing", async () => {
  const backend = new MemoryBackend(FILES);
  const ws = await openWorkspace({ backend, root: "/w" });
  const result = await ws.call("apply_patch", { path: "g", patch: "@@ -0,0 +1 @@\n+x\n" });
  expect(result.error?.code).toBe("NOT_FOUND");
  expect(await backend.exists("/w/g")).toBe(false);
});
