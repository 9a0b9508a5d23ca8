/** Content that a rule asks about before a read is not revealed by dry runs or by changes that fail. */
import { describe, expect, test } from "vitest";
import { type Confirmation, MemoryBackend, openWorkspace, type Rule } from "../../js/index.node.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

const seed: Seed = { "vault/a.txt": "MARKER one\nMARKER two\n", "open.txt": "MARKER open\n" };
const rules = [{ path: "vault/**", decision: "ask" }] as const;

/** Changes that would reveal content without being made. */
const REVEALING_CALLS: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["edit_file", { path: "vault/a.txt", old_text: "one", new_text: "1", dry_run: true }],
  ["edit_file", { path: "vault/a.txt", old_text: "MARKER onee", new_text: "1" }],
  ["edit_file", { path: "vault/a.txt", old_text: "MARKER", new_text: "1" }],
  [
    "apply_patch",
    { patch: "*** Begin Patch\n*** Update File: vault/a.txt\n@@\n-MARKER three\n+x\n*** End Patch" },
  ],
  [
    "apply_patch",
    {
      patch: "*** Begin Patch\n*** Update File: vault/a.txt\n@@\n-MARKER one\n+x\n*** End Patch",
      dry_run: true,
    },
  ],
  ...[true, false].map(
    (dry_run) =>
      [
        "batch",
        {
          dry_run,
          operations: [
            { tool: "copy", args: { source: "vault", destination: "out" } },
            { tool: "read_file", args: { path: "out/a.txt" } },
          ],
        },
      ] as const,
  ),
  [
    "batch",
    {
      dry_run: true,
      operations: [
        { tool: "move", args: { source: "vault/a.txt", destination: "out" } },
        { tool: "grep", args: { pattern: "MARKER", path: "out" } },
      ],
    },
  ],
];

describe.each(KINDS)("on %s", (kind) => {
  test.each(REVEALING_CALLS)("%s %j reveals nothing where no approver is set", async (tool, args) => {
    const { ws } = await place(kind, seed, { rules });
    const result = await ws.call(tool, args);
    expect(result.error?.code, result.text).toBe("APPROVAL_DENIED");
    expect(JSON.stringify(result)).not.toMatch(/MARKER (?:one|two)/u);
  });

  test.each(REVEALING_CALLS)("%s %j tells nothing when the reviewer refuses", async (tool, args) => {
    const asked: Confirmation[] = [];
    const { ws } = await place(kind, seed, {
      rules,
      confirm(details) {
        asked.push(details);
        return { outcome: "cancel" };
      },
    });
    const result = await ws.call(tool, args);
    expect(result.error?.code, result.text).toBe("APPROVAL_DENIED");
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(result)).not.toMatch(/MARKER (?:one|two)/u);
  });

  test("a dry run is made after an approval, and needs no question where reading needs none", async () => {
    let asked = 0;
    const confirm = () => {
      asked += 1;
      return { outcome: "proceed_once" } as const;
    };
    const { ws } = await place(kind, seed, {
      rules: [...rules, { tool: "edit_file", decision: "ask" }],
      confirm,
    });
    const edit = { old_text: "MARKER o", new_text: "x", dry_run: true };
    expect((await ws.call("edit_file", { path: "vault/a.txt", ...edit })).ok).toBe(true);
    expect(asked).toBe(1);
    expect((await ws.call("edit_file", { path: "open.txt", ...edit })).ok).toBe(true);
    expect(asked).toBe(1);
  });
});

describe("a change of a file that is missing", () => {
  const open = (rules: readonly Rule[]) =>
    openWorkspace({
      backend: new MemoryBackend({ "/w/notes.txt": "a\n", "/w/kept/report.txt": "b\n" }),
      roots: ["/w", "/w/kept"],
      guard: "off",
      rules,
    });
  const edit = { old_text: "a", new_text: "b" };

  test("names no file that a rule asks about", async () => {
    await using ws = await open([{ path: "kept/**", decision: "ask" }]);
    for (const path of ["kept/reprot.txt", "report.txt"])
      expect((await ws.call("edit_file", { path, ...edit })).text).not.toContain("report.txt'?");
  });

  test("names the file that was meant where every change is asked about", async () => {
    await using ws = await open([{ tool: "edit_file", decision: "ask" }]);
    const { text } = await ws.call("edit_file", { path: "nots.txt", ...edit });
    expect(text).toContain("Did you mean 'notes.txt'?");
  });
});
