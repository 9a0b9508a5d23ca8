/** The options of a call, a lock, an undo, a grant: mistakes are refused and change nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  MemoryBackend,
  grantsIn,
  memoryRecords,
  openWorkspace,
  resolveMentions,
  toolsFor,
  type Workspace,
} from "../../js/index.node.ts";

const backend = new MemoryBackend({ "/w/a": "one\n" });
let ws: Workspace;
beforeAll(async () => {
  ws = await openWorkspace({ backend, root: "/w" });
});
afterAll(() => ws.close());

const mistakes: readonly [name: string, options: unknown, says: RegExp][] = [
  ["a misspelt signal", { sginal: new AbortController().signal }, /'sginal'.*'signal'/],
  ["abortSignal", { abortSignal: new AbortController().signal }, /'abortSignal'/],
  ["a controller for a signal", { signal: new AbortController() }, /'signal'.*AbortSignal/],
  ["a signal that is null", { signal: null }, /'signal'/],
  ["a misspelt agent", { agnet: "a" }, /'agnet'.*'agent'/],
  ["an agent that is a number", { agent: 5 }, /'agent'.*string/],
  ["an agent without a name", { agent: "" }, /'agent'.*empty/],
  ["progress in another case", { onprogress: () => undefined }, /'onprogress'.*'onProgress'/],
  ["progress that is no function", { onProgress: true }, /'onProgress'.*function/],
  ["a symbol for a name", { [Symbol("signal")]: 1 }, /Symbol\(signal\)/],
  ["inherited options", Object.create({ agent: "a" }), /plain object/],
  ["null", null, /got null/],
  ["a signal alone", new AbortController().signal, /plain object/],
  ["a text", "agent", /got a string/],
  ["a list", [], /got a list/],
];

describe("a call refuses", () => {
  test.each(mistakes)("%s", async (name, options, says) => {
    const path = `new ${name}`;
    const args = { path, content: "x" };
    const given = options as never;
    const presetTool = toolsFor(ws, "claude").find((tool) => tool.name === "Write");
    const own = ws.tools.find((tool) => tool.name === "write_file");
    const refusals = [
      (await ws.call("write_file", args, given)).error,
      (await own?.execute(args, given))?.error,
      (await presetTool?.execute({ file_path: `/w/${path}`, content: "x" }, given))?.error,
      await ws.writeFile(args, given).catch((error: unknown) => error),
    ];
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
    expect(await backend.exists(`/w/${path}`)).toBe(false);
  });

  test("them on the workspace of an agent too", async () => {
    const agent = await ws.agent("reviewer");
    const args = { pattern: "one" };
    await expect(agent.grep(args, { sginal: 1 } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect((await agent.grep(args, {})).matches).toHaveLength(1);
    await agent.close();
  });
});

test("a call takes options that are right, and those that are undefined", async () => {
  const { signal } = new AbortController();
  for (const options of [
    {},
    { signal },
    { signal: undefined, agent: undefined, onProgress: undefined, toolCall: undefined },
    { agent: "a", onProgress: () => undefined, toolCall: { id: 1 } },
  ])
    expect((await ws.call("read_file", { path: "a" }, options)).ok).toBe(true);
});

test("a lock is not taken when its options make no sense", async () => {
  for (const options of [{ sginal: 1 }, { signal: 1 }, { timeoutMs: 5 }, null])
    await expect(ws.lock("a", options as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  (await ws.lock("a", {})).release();
});

test("nothing is undone when the options of an undo make no sense", async () => {
  const { meta } = await ws.call("write_file", { path: "undone", content: "x" });
  const id = meta.call_id as string;
  for (const options of [{ sginal: 1 }, { signal: 1 }, { force: true }, null])
    await expect(ws.undo(id, options as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  for (const wrong of [undefined, 5, null, ""])
    await expect(ws.undo(wrong as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(await backend.exists("/w/undone")).toBe(true);
  await ws.undo(id, {});
  expect(await backend.exists("/w/undone")).toBe(false);
});

test("mentions are not read when the options make no sense", async () => {
  for (const options of [{ resolver: [] }, { resolvers: "x" }, { resolvers: ["x"] }, { sginal: 1 }])
    await expect(resolveMentions(ws, "@a", options as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
});

test("a grant with a misspelt end is refused, and would not last for ever", async () => {
  const mistakes: readonly object[] = [
    { dir: "/w", access: "read", expire: "2020-01-01T00:00:00Z" },
    { dir: "/w", access: "READ" },
    { dir: "/w" },
    { dir: "/w", access: "read", expires: new Date(0) },
  ];
  const grants = grantsIn({ records: memoryRecords() });
  for (const grant of mistakes) {
    await expect(ws.grants.add(grant as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const whole = { granted_at: new Date(0).toISOString(), ...grant } as never;
    await expect(grants.add(whole)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
  expect(await ws.grants.list()).toEqual([]);
});
