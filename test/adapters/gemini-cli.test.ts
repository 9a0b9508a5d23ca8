/** Tools as the registry of Gemini CLI takes them: described, confirmed, executed. */
import { describe, expect, test } from "vitest";
import { type GeminiCliTool, toGeminiCliTools } from "../../js/adapters/gemini-cli.ts";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function open(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const backend = new MemoryBackend({
    "/w/a.txt": "one\ntwo\n",
    "/w/dot.png": new Uint8Array(Buffer.from(PNG, "base64")),
  });
  return openWorkspace({ backend, root: "/w", preset: "gemini", ...options } as WorkspaceOptions);
}

const named = (tools: readonly GeminiCliTool[], name: string): GeminiCliTool =>
  tools.find((tool) => tool.name === name) as GeminiCliTool;
const EDIT = { file_path: "/w/a.txt", old_string: "two", new_string: "2" };

describe("a tool", () => {
  test("tells its name for people, icon, schema, a call's places and title, and what is wrong with arguments", async () => {
    const tools = toGeminiCliTools(await open());
    const replace = named(tools, "replace");
    expect(replace).toMatchObject({
      displayName: "Edit file",
      icon: "pencil",
      kind: "edit",
      isOutputMarkdown: false,
      canUpdateOutput: false,
      isReadOnly: false,
      schema: { name: "replace", parametersJsonSchema: { type: "object" } },
    });
    expect(replace.validateToolParams(EDIT)).toBeNull();
    expect(replace.getDescription(EDIT)).toBe("Edit file: /w/a.txt");
    expect(replace.toolLocations(EDIT)).toEqual([{ path: "/w/a.txt" }]);
    expect(replace.validateToolParams({ file_path: "/w/a.txt" })).toMatch(/old_string/u);
    expect(replace.validateToolParams({ ...EDIT, file_path: "a.txt" })).toMatch(/absolute/u);
    expect(replace.validateToolParams({ ...EDIT, file_path: "/etc/x" })).toMatch(/\/etc\/x/u);
    expect(replace.toolLocations({ ...EDIT, file_path: "/etc/x" })).toEqual([]);
    const icons = tools.map(({ name, icon }) => `${name} ${icon}`);
    expect(icons).toContain("search_file_content regex");
    expect(icons).toContain("list_directory folder");
    expect(icons).toContain("read_file fileSearch");
    const ours = toGeminiCliTools(await open(), { preset: "canonical" });
    const reading = ours.filter(({ kind }) => kind === "read" || kind === "search");
    expect(reading.every(({ isReadOnly }) => isReadOnly)).toBe(true);
  });

  test("answers the model and people apart, images as parts, failures with their code", async () => {
    const tools = toGeminiCliTools(await open());
    const read = named(tools, "read_file");
    const { llmContent, returnDisplay } = await read.execute({ absolute_path: "/w/a.txt" });
    expect([llmContent, returnDisplay]).toEqual(["one\ntwo\n", "Read a.txt: 2 lines"]);
    const image = await read.execute({ absolute_path: "/w/dot.png" });
    expect(image.llmContent).toMatchObject([{}, { inlineData: { mimeType: "image/png", data: PNG } }]);
    const missing = await read.execute({ absolute_path: "/w/none" });
    expect(missing.error?.type).toBe("NOT_FOUND");
    expect(missing.returnDisplay).toMatch(/^Read file failed: /u);
    const stopped = await read.execute({ absolute_path: "/w/a.txt" }, AbortSignal.abort());
    expect(stopped.error?.type).toBe("CANCELLED");
  });
});

describe("a question", () => {
  test("shows what a change would do, and is put where the host wants it", async () => {
    const ws = await open();
    const [quiet, asking] = [toGeminiCliTools(ws), toGeminiCliTools(ws, { approve: "changes" })];
    expect(await named(quiet, "replace").shouldConfirmExecute(EDIT)).toBe(false);
    expect(await named(asking, "read_file").shouldConfirmExecute({ absolute_path: "/w/a.txt" })).toBe(false);
    expect(await named(asking, "replace").shouldConfirmExecute(EDIT)).toMatchObject({
      type: "edit",
      fileName: "a.txt",
      filePath: "/w/a.txt",
      fileDiff: expect.stringContaining("-two\n+2\n"),
      originalContent: "one\ntwo\n",
      newContent: "one\n2\n",
    });
    expect(await ws.fs.readText("/w/a.txt")).toBe("one\ntwo\n");
    const always = named(toGeminiCliTools(ws, { approve: "always" }), "glob");
    expect(await always.shouldConfirmExecute({ pattern: "*" })).toMatchObject({ type: "info" });
  });

  test.each([
    ["proceed_once", "one\n2\n", undefined],
    ["cancel", "one\ntwo\n", "APPROVAL_DENIED"],
    ["something else", "one\ntwo\n", "APPROVAL_DENIED"],
    [undefined, "one\ntwo\n", "APPROVAL_DENIED"],
  ])("answered with %o leaves the file as it should be", async (outcome, left, code) => {
    const ws = await open();
    const call = named(toGeminiCliTools(ws, { approve: "changes" }), "replace").build({ ...EDIT });
    const question = await call.shouldConfirmExecute();
    if (question === false) throw new Error("not asked");
    if (outcome !== undefined) await question.onConfirm(outcome);
    const { error } = await call.execute({ abortSignal: new AbortController().signal });
    expect([error?.type, await ws.fs.readText("/w/a.txt")]).toEqual([code, left]);
  });

  test("does not stand for a change that has become another one", async () => {
    const ws = await open();
    const call = named(toGeminiCliTools(ws, { approve: "changes" }), "replace").build({ ...EDIT });
    const question = await call.shouldConfirmExecute();
    await ws.fs.writeText("/w/a.txt", "two\nmore\n");
    if (question !== false) await question.onConfirm("proceed_once");
    const { error, llmContent } = await call.execute();
    expect([error?.type, await ws.fs.readText("/w/a.txt")]).toEqual(["APPROVAL_DENIED", "two\nmore\n"]);
    expect(llmContent).toMatch(/has changed since/u);
  });

  test("a call whose arguments do not fit is not built", async () => {
    const tool = named(toGeminiCliTools(await open()), "replace");
    expect(() => tool.build({ file_path: "/w/a.txt" })).toThrow(/old_string/u);
  });

  test("rules of the workspace hold all the same", async () => {
    const ws = await open({ rules: [{ tool: "edit_file", decision: "deny" }] });
    const { error } = await named(toGeminiCliTools(ws), "replace").execute(EDIT);
    expect(error?.type).toBe("APPROVAL_DENIED");
  });
});
