/**
 * A disk that finds names in any letter case, also under Linux (WSL, shares of Windows, FAT, Docker Desktop): what is
 * denied, asked about and restricted by rules is so under every spelling. Played
 * through FUSE, on the native disk and on that of `node:fs`.
 */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { foldsCase } from "../../js/backends/node/folding.node.ts";
import { NodeBackend } from "../../js/backends/index.node.ts";
import { openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { mountOddFiles } from "../support/odd-files.mjs";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-folding-")));
const folding = join(base, "folding");
const { missing, stop } = mountOddFiles(folding, ["fold"]);
afterAll(() => {
  stop?.();
  rmSync(base, { recursive: true, force: true });
});

const SECRET = "hunter2";
let count = 0;

/** A root with files; on the disk that ignores letter case, or on that of temporary files. */
function seed(where: string): string {
  const root = join(where, `Root${count++}`);
  for (const [path, text] of [
    ["private/x.txt", SECRET],
    ["ask/y.txt", "y"],
    ["b.txt", "b"],
  ] as const) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

async function open(root: string, options: Omit<WorkspaceOptions, "root">) {
  const stateDir = mkdtempSync(join(base, "state-"));
  const ws = await openWorkspace({ root, stateDir, guard: "off", ...options });
  afterThisTest(() => ws.close());
  return ws;
}

const SPELLINGS = [
  "private/x.txt",
  "Private/x.txt",
  "PRIVATE/X.TXT",
  "privatE/x.TXT",
  "./PriVate/../PRIVATE/x.txt",
];

describe("a disk that tells letter case apart", () => {
  test("is found out by its names, by its own name where it has none, and with a file", () => {
    const root = seed(base);
    expect(foldsCase(root, false)).toBe(false);
    const empty = join(root, "Empty");
    mkdirSync(empty);
    for (const mayWrite of [false, true]) expect(foldsCase(empty, mayWrite)).toBe(false);
    writeFileSync(join(empty, "1"), "");
    expect(foldsCase(empty, false)).toBe(false);
    writeFileSync(join(root, "README"), "");
    writeFileSync(join(root, "readme"), "");
    expect(foldsCase(root, false)).toBe(false);
  });

  test("keeps apart what a glob denies and what it does not", async () => {
    const ws = await open(seed(base), { access: { deny: ["private/**"] } });
    expect((await ws.call("write_file", { path: "Private/x.txt", content: "x" })).ok).toBe(true);
    expect((await ws.call("read_file", { path: "private/x.txt" })).ok).toBe(false);
  });
});

describe.skipIf(missing !== undefined).each(["native", "node"] as const)(
  "a disk that folds it, with %s",
  (kind) => {
    const disk = () => (kind === "native" ? { engine: "native" as const } : { backend: new NodeBackend() });
    test("is found out without a change", () => {
      const root = seed(folding);
      expect(foldsCase(root, false)).toBe(true);
      const empty = join(root, "Empty");
      mkdirSync(empty);
      for (const mayWrite of [false, true]) expect(foldsCase(empty, mayWrite)).toBe(true);
    });

    test.each(SPELLINGS)("does not read, find, change or list what is denied as %s", async (path) => {
      const root = seed(folding);
      const ws = await open(root, { ...disk(), access: { deny: ["private/**"] } });
      for (const [tool, args] of [
        ["read_file", { path }],
        ["write_file", { path, content: "x" }],
        ["edit_file", { path, old_text: SECRET, new_text: "x" }],
        ["copy", { source: path, destination: "c" }],
        ["move", { source: path, destination: "c" }],
        ["delete", { path }],
        ["grep", { pattern: SECRET, path }],
      ] as const) {
        const result = await ws.call(tool, args);
        expect(result.ok && !result.text.startsWith("No matches"), tool).toBe(false);
        expect(result.text).not.toContain(SECRET);
      }
      const found = await ws.call("grep", { pattern: SECRET });
      expect(found.text).not.toContain("x.txt");
      expect(readFileSync(join(root, "private/x.txt"), "utf8")).toBe(`${SECRET}\n`);
    });

    test.each(["ask/y.txt", "ASK/y.txt", "Ask/Y.TXT"])(
      "asks about %s by a rule about ask/**",
      async (path) => {
        let asked = 0;
        const ws = await open(seed(folding), {
          ...disk(),
          rules: [{ path: "ask/**", decision: "ask" }, { decision: "allow" }],
          confirm: () => {
            asked += 1;
            return { outcome: "cancel" };
          },
        });
        expect((await ws.call("write_file", { path, content: "x" })).error?.code).toBe("APPROVAL_DENIED");
        expect(asked).toBe(1);
        expect((await ws.call("write_file", { path: "B.TXT", content: "x" })).ok).toBe(true);
        expect(asked).toBe(1);
      },
    );

    test("folds for a root below a link, and for one of several roots", async () => {
      const root = seed(folding);
      const link = join(base, `link-${count}`);
      symlinkSync(root, link);
      const one = await open(link, { ...disk(), access: { deny: ["private/**"] } });
      expect((await one.call("read_file", { path: "PRIVATE/x.txt" })).ok).toBe(false);
      const stateDir = mkdtempSync(join(base, "state-"));
      const roots = [seed(base), root];
      const two = await openWorkspace({
        roots,
        stateDir,
        ...disk(),
        access: { deny: [join(root, "private")] },
      });
      afterThisTest(() => two.close());
      expect((await two.call("read_file", { path: join(root, "Private/x.txt") })).ok).toBe(false);
    });

    test("holds for an agent's own list", async () => {
      const ws = await open(seed(folding), disk());
      const agent = await ws.agent("a", { access: { deny: ["private"] } });
      expect((await agent.call("read_file", { path: "PRIVATE/x.txt" })).ok).toBe(false);
    });
  },
);
