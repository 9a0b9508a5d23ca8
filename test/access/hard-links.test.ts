/**
 * A file that is denied, secret or asked about under one name is not read under another: hard links made before the
 * workspace opens, and at any time after it.
 */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type Confirmation,
  NodeBackend,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const DISKS = ["the addon", "node:fs"] as const;
type Disk = (typeof DISKS)[number];

/** What no answer may hold. */
const MARK = "MARKER";

interface Place {
  readonly ws: Workspace;
  readonly root: string;
  /** Makes a hard link behind the workspace's back. */
  link(from: string, to: string): void;
}

async function open(
  disk: Disk,
  links: Readonly<Record<string, string>>,
  options: Partial<WorkspaceOptions> = {},
): Promise<Place> {
  const root = fs.realpathSync(temporaryDirectory());
  const files = {
    ".env": `KEY=${MARK}\n`,
    "private/deep/a.txt": `${MARK} private\n`,
    "asked/a.txt": `${MARK} asked\n`,
    "plain.txt": "plain text\n",
    "src/main.ts": "export {};\n",
  };
  for (const [path, text] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true });
    fs.writeFileSync(join(root, path), text);
  }
  const link = (from: string, to: string): void => fs.linkSync(join(root, from), join(root, to));
  for (const [to, from] of Object.entries(links)) link(from, to);
  const ws = await openWorkspace({
    root,
    guard: "off",
    access: { deny: ["private"] },
    rules: [{ path: "asked/**", decision: "ask" }],
    ...(disk === "node:fs" && { backend: new NodeBackend() }),
    ...options,
  });
  afterThisTest(() => ws.close());
  return { ws, root, link };
}

/** Each hidden file, and the code with which its other name is refused. */
const HIDDEN = [
  [".env", "GRANT_DENIED"],
  ["private/deep/a.txt", "OUTSIDE_ALLOWED"],
  ["asked/a.txt", "APPROVAL_DENIED"],
] as const;

/** Calls that would show the content of `n`, now or after another call. */
const REVEALING: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["read_file", { path: "n" }],
  ["read_many_files", { paths: ["n"] }],
  ["grep", { pattern: MARK, path: "n" }],
  ["diff", { a: "n", b: "plain.txt" }],
  ["copy", { source: "n", destination: "c" }],
  ["edit_file", { path: "n", old_text: "nothing", new_text: "x" }],
  ["edit_file", { path: "n", old_text: MARK, new_text: "x", dry_run: true }],
  ["apply_patch", { path: "n", patch: "@@ -1 +1 @@\n-x\n+y\n" }],
  [
    "batch",
    {
      dry_run: true,
      operations: [
        { tool: "copy", args: { source: "n", destination: "c" } },
        { tool: "read_file", args: { path: "c" } },
      ],
    },
  ],
];

/** Calls that leave the file out and tell the rest. */
const SEARCHES: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["grep", { pattern: `${MARK}|plain` }],
  ["grep", { pattern: `${MARK}|plain`, output: "files" }],
  ["grep", { pattern: `${MARK}|plain`, output: "count" }],
  ["read_many_files", { paths: ["*"] }],
];

describe.each(DISKS)("with %s", (disk) => {
  describe.each(HIDDEN)("another name of %s", (hidden, code) => {
    test.each(REVEALING)("is refused to %s %j", async (tool, args) => {
      const { ws, root } = await open(disk, { n: hidden });
      const result = await ws.call(tool, args);
      expect(JSON.stringify(result)).not.toContain(MARK);
      expect(fs.existsSync(join(root, "c"))).toBe(false);
      expect(fs.readFileSync(join(root, hidden), "utf8")).toContain(MARK);
      if (tool !== "read_many_files") expect(result.error?.code, result.text).toBe(code);
    });

    test.each(SEARCHES)("is left out by %s %j, also with an index", async (tool, args) => {
      const { ws } = await open(disk, { n: hidden, "src/m": hidden });
      for (let turn = 0; turn < 3; turn++) {
        const { text } = await ws.call(tool, args);
        expect(text).toContain("plain");
        // Names are no secrets, but a search that names a file says that it matches.
        expect(text).not.toMatch(tool === "grep" ? /MARKER|^n\b|src\/m/mu : /MARKER/u);
      }
    });

    test("is found at any time: made later, of another name, moved, and in a moved directory", async () => {
      const { ws, root, link } = await open(disk, {});
      const refused = async (path: string): Promise<void> => {
        const read = await ws.call("read_file", { path });
        expect(read.error?.code, `${path}: ${read.text}`).toBe(code);
        expect((await ws.call("grep", { pattern: MARK })).text).not.toMatch(/MARKER \w|KEY=/u);
      };
      link("plain.txt", "plain2.txt");
      expect((await ws.call("read_file", { path: "plain2.txt" })).text).toContain("plain text");
      link(hidden, "n");
      await refused("n");
      link("n", "src/m");
      await refused("src/m");
      expect((await ws.call("move", { source: "n", destination: "src/o" })).text).toContain("src/o");
      await refused("src/o");
      fs.renameSync(join(root, "src"), join(root, "lib"));
      await refused("lib/m");
      expect((await ws.call("read_file", { path: "plain2.txt" })).text).toContain("plain text");
    });
  });

  test("a file is hidden as soon as another name of it is a secret or denied, and no longer", async () => {
    const { ws, root, link } = await open(disk, {});
    const code = async (): Promise<string | undefined> =>
      (await ws.call("read_file", { path: "src/main.ts" })).error?.code;
    link("src/main.ts", "ok");
    expect(await code()).toBeUndefined();
    fs.renameSync(join(root, "ok"), join(root, ".env.local"));
    expect(await code()).toBe("GRANT_DENIED");
    fs.renameSync(join(root, ".env.local"), join(root, "private/x"));
    expect(await code()).toBe("OUTSIDE_ALLOWED");
    fs.rmSync(join(root, "private/x"));
    expect(await code()).toBeUndefined();
  });

  test("a copy of a directory does not take it along", async () => {
    const { ws, root } = await open(disk, { "src/n": ".env" });
    const copied = await ws.call("copy", { source: "src", destination: "copied" });
    expect(copied.error?.code, copied.text).toBe("GRANT_DENIED");
    const file = await ws.call("copy", { source: "src/n", destination: "n" });
    expect(file.text).toContain("'src/n' holds secrets by another name (a hard link)");
    expect(fs.existsSync(join(root, "copied/n"))).toBe(false);
  });

  test("rules that globs cannot express hide every name of a file, and exceptions show those of theirs", async () => {
    const { ws, root, link } = await open(
      disk,
      { n: "asked/a.txt" },
      {
        rules: [
          { path: "asked/open.txt", decision: "allow" },
          { path: "asked/**", decision: "deny" },
        ],
      },
    );
    fs.writeFileSync(join(root, "asked/open.txt"), "plain too\n");
    link("asked/open.txt", "m");
    expect((await ws.call("read_file", { path: "n" })).error?.code).toBe("APPROVAL_DENIED");
    expect((await ws.call("read_file", { path: "m" })).text).toContain("plain too");
    for (const [tool, args] of SEARCHES) {
      const { text } = await ws.call(tool, args);
      expect(text).not.toMatch(tool === "grep" ? /MARKER|^n\b/mu : /MARKER/u);
      expect(text).toMatch(/^(?:m\b|--- m ---$)/mu);
    }
  });

  test("it is found in a second root", async () => {
    const [other, { root: first }] = [temporaryDirectory(), await open(disk, {})];
    fs.linkSync(join(first, ".env"), join(other, "n"));
    const { ws } = await open(disk, {}, { root: undefined, roots: [{ path: other }, { path: first }] });
    expect((await ws.call("read_file", { path: "n" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("grep", { pattern: MARK, path: other })).text).not.toContain("KEY=");
  });

  test("a reviewer is asked about the call, and a grant of the secret opens every name of it", async () => {
    const asked: Confirmation[] = [];
    const questions: string[] = [];
    const { ws, root } = await open(
      disk,
      { n: "asked/a.txt", m: ".env" },
      {
        confirm: (details) => {
          asked.push(details);
          return { outcome: "proceed_once" };
        },
        permissions: {
          mode: "prompt",
          ask: (question) => {
            questions.push(question);
            return "yes";
          },
        },
      },
    );
    expect((await ws.call("read_file", { path: "n" })).text).toContain(`${MARK} asked`);
    expect(asked).toHaveLength(1);
    expect((await ws.call("read_many_files", { paths: ["n"] })).text).toContain(`${MARK} asked`);
    expect(asked).toHaveLength(2);
    expect((await ws.call("read_file", { path: "m" })).text).toContain(`KEY=${MARK}`);
    expect(questions.at(-1)).toContain(join(root, ".env"));
  });

  test("a file that only has names which may be read is read under each of them", async () => {
    const { ws, root } = await open(disk, { "src/a": "plain.txt", "src/b": "plain.txt" });
    const outside = join(temporaryDirectory(), "store");
    fs.linkSync(join(root, "plain.txt"), outside);
    for (const path of ["plain.txt", "src/a", "src/b"])
      expect((await ws.call("read_file", { path })).text).toContain("plain text");
    const { text } = await ws.call("grep", { pattern: "plain text" });
    for (const path of ["plain.txt", "src/a", "src/b"]) expect(text).toContain(`${path}:1:`);
  });
});

describe("a hard link of a credential file outside the roots", () => {
  /** Makes a home directory with a key, and a workspace with hard links of it. */
  async function openBesideHome(
    options: Partial<WorkspaceOptions>,
    fill: (home: string) => void = () => {},
  ): Promise<Place & { home: string }> {
    const home = fs.realpathSync(temporaryDirectory());
    fs.mkdirSync(join(home, ".ssh"));
    fs.writeFileSync(join(home, ".ssh/id_work"), `${MARK} of ssh\n`);
    fill(home);
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const place = await open("the addon", {}, options);
    fs.linkSync(join(home, ".ssh/id_work"), join(place.root, "x"));
    return { ...place, home };
  }

  test("is read, searched, edited and copied by no tool", async () => {
    const { ws, root } = await openBesideHome({});
    const calls: readonly (readonly [tool: string, args: object])[] = [
      ["read_file", { path: "x" }],
      ["edit_file", { path: "x", old_text: MARK, new_text: "y" }],
      ["copy", { source: "x", destination: "y" }],
    ];
    for (const [tool, args] of calls) expect((await ws.call(tool, args)).error?.code).toBe("GRANT_DENIED");
    const { text } = await ws.call("grep", { pattern: `${MARK} of` });
    expect(text).not.toContain("of ssh");
    expect(fs.existsSync(join(root, "y"))).toBe(false);
  });

  test("is known beside a place with very many files", async () => {
    const { ws } = await openBesideHome({}, (home) => {
      fs.mkdirSync(join(home, ".aws"));
      for (let file = 0; file < 5000; file++) fs.writeFileSync(join(home, `.aws/${file}`), "");
    });
    expect((await ws.call("read_file", { path: "x" })).error?.code).toBe("GRANT_DENIED");
  });

  test("is known where the directory of the home is a link into another place", async () => {
    const questions: string[] = [];
    const { ws, home, root } = await openBesideHome(
      {
        permissions: {
          mode: "prompt",
          ask: (question) => {
            questions.push(question);
            return question.includes("id_work") ? "no" : "yes";
          },
        },
      },
      (before) => {
        fs.mkdirSync(join(before, "dotfiles"));
        fs.renameSync(join(before, ".ssh"), join(before, "dotfiles/ssh"));
        fs.mkdirSync(join(before, "dotfiles/aws"));
        fs.writeFileSync(join(before, "dotfiles/aws/credentials"), `${MARK} of aws\n`);
        for (const name of ["ssh", "aws"]) fs.symlinkSync(`dotfiles/${name}`, join(before, `.${name}`));
      },
    );
    expect((await ws.call("read_file", { path: "x" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("grep", { pattern: MARK })).text).not.toContain("of ssh");
    fs.linkSync(join(home, ".aws/credentials"), join(root, "granted"));
    expect((await ws.call("read_file", { path: "granted" })).text).toContain(`${MARK} of aws`);
    expect(questions.at(-1)).toContain(join(home, ".aws/credentials"));
  });

  test("is known for a key of the journal, whose records are not listed", async () => {
    const journal = ".local/state/filewright/journal";
    const { ws, home, root } = await openBesideHome({}, (before) => {
      fs.mkdirSync(join(before, journal, "shared/0"), { recursive: true });
      fs.writeFileSync(join(before, journal, "old-key"), MARK);
      fs.writeFileSync(join(before, journal, "shared/0/record"), "of a change\n");
    });
    fs.linkSync(join(home, journal, "old-key"), join(root, "key"));
    fs.linkSync(join(home, journal, "shared/0/record"), join(root, "record"));
    expect((await ws.call("read_file", { path: "key" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("read_file", { path: "record" })).text).toContain("of a change");
  });

  test("is read after a person granted the file by its own name", async () => {
    const questions: string[] = [];
    const { ws, home } = await openBesideHome({
      permissions: {
        mode: "prompt",
        ask: (question) => {
          questions.push(question);
          return "yes";
        },
      },
    });
    expect((await ws.call("read_file", { path: "x" })).text).toContain(`${MARK} of ssh`);
    expect(questions.at(-1)).toContain(join(home, ".ssh/id_work"));
  });
});
