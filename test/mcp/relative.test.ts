/** Relative paths of a server over several directories: a path that a rule or a missing grant keeps from a call reads as absent. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { callTool } from "../../js/mcp/protocol/call.ts";
import { hostOfOpenWorkspace } from "../../js/mcp/host.ts";

const CALLER = { mcpReq: { signal: new AbortController().signal, notify: () => Promise.resolve() } };

/** A server over `/one` and `/two` with the tools of preset `mcp`, and what lies on its disk. */
async function serve(files: Readonly<Record<string, string>>, options: WorkspaceOptions = {}) {
  const backend = new MemoryBackend({ "/one/a.txt": "first\n", ...files });
  const ws = await openWorkspace({ backend, roots: ["/one", "/two"], guard: "off", ...options });
  const host = await hostOfOpenWorkspace(ws, "mcp");
  return {
    backend,
    call: async (name: string, args: Readonly<Record<string, unknown>>): Promise<string> => {
      const { content } = (await callTool({ host, structured: "none" }, name, args, CALLER)) as {
        readonly content: readonly { readonly text?: string }[];
      };
      return content.map(({ text = "" }) => text).join("");
    },
  };
}

/** One call on what is there and on what is not: the answers, with the names made equal. */
async function pair(
  options: WorkspaceOptions,
  tool: string,
  args: (path: string) => Readonly<Record<string, unknown>>,
): Promise<readonly [string, string]> {
  const files = { "/two/kept/seen.txt": "second\n", "/two/open.txt": "open\n" };
  const there = await (await serve(files, options)).call(tool, args("kept/seen.txt"));
  const absent = await (await serve(files, options)).call(tool, args("kept/none.txt"));
  return [there.replaceAll("seen", "none"), absent];
}

const HIDDEN_BY: readonly (readonly [string, WorkspaceOptions])[] = [
  ["denied by the policy", { access: { deny: ["/two/kept"] } }],
  ["denied by a rule", { rules: [{ path: "/two/kept/**", decision: "deny" }] }],
  ["asked about by a rule", { rules: [{ path: "/two/kept/**", decision: "ask" }] }],
  ["denied by a rule on the tool", { rules: [{ tool: "write_file", path: "/two/kept", decision: "deny" }] }],
  ["denied to every look", { rules: [{ tool: "stat", path: "/two/kept/**", decision: "deny" }] }],
  [
    "denied behind a rule on every path",
    {
      rules: [
        { tool: "write_file", decision: "ask" },
        { path: "/two/kept/**", decision: "deny" },
      ],
    },
  ],
  [
    "in a directory that was not granted",
    { permissions: { mode: "prompt", ask: () => Promise.resolve("no") } },
  ],
];

describe.each(HIDDEN_BY)("a relative path of a later directory that is %s", (_, options) => {
  test("is written as if it were absent", async () => {
    const [there, absent] = await pair(options, "write_file", (path) => ({ path, content: "x" }));
    expect(there).toBe(absent);
    expect(there).not.toContain("/two");
  });
});

describe.each(HIDDEN_BY.filter(([, { rules = [] }]) => rules.every(({ tool }) => tool === undefined)))(
  "a relative path of a later directory that is %s",
  (_, options) => {
    test.each(["read_text_file", "get_file_info", "edit_file"])(
      "is reported by %s as absent",
      async (tool) => {
        const [there, absent] = await pair(options, tool, (path) =>
          tool === "edit_file" ? { path, edits: [{ oldText: "second", newText: "x" }] } : { path },
        );
        expect(there).toBe(absent);
        expect(there).not.toContain("/two");
      },
    );
  },
);

test("a relative path is taken from a later directory where nothing keeps it", async () => {
  const rules = [{ path: "/two/kept/**", decision: "deny" }] as const;
  const { call, backend } = await serve({ "/two/src/b.txt": "second\n" }, { rules });
  expect(await call("read_text_file", { path: "src/b.txt" })).toContain("second");
  await call("edit_file", { path: "src/b.txt", edits: [{ oldText: "second", newText: "2nd" }] });
  expect(await backend.readText("/two/src/b.txt")).toBe("2nd\n");
});

test("a relative path is taken from a later directory where a rule asks about every change", async () => {
  const rules = [{ tool: "edit_file", decision: "ask" }] as const;
  const confirm = () => Promise.resolve({ outcome: "proceed_once" } as const);
  const { call, backend } = await serve({ "/two/src/b.txt": "second\n" }, { rules, confirm });
  await call("edit_file", { path: "src/b.txt", edits: [{ oldText: "second", newText: "2nd" }] });
  expect(await backend.readText("/two/src/b.txt")).toBe("2nd\n");
});

test("a name that leads out of a directory is looked for nowhere", async () => {
  const { call } = await serve({ "/two/src/b.txt": "second\n" });
  expect(await call("read_text_file", { path: "../two/src/b.txt" })).toContain("second");
  expect(await call("read_text_file", { path: "../../two/src/b.txt" })).not.toContain("first");
});
