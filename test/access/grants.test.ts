import { chmod, chown, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type AskGrant,
  type Grant,
  type GrantQuestion,
  memoryGrants,
  openGrantsFile,
  openWorkspace,
  type PermissionOptions,
  parseGrants,
} from "../../js/index.node.ts";
import { KINDS, type Fixture, place, type Seed, temporary } from "../tools/harness.ts";

/** An `ask` that gives these answers in turn, then `no`; and its questions. */
function asked(...answers: (string | Error | Awaited<ReturnType<AskGrant>>)[]) {
  const questions: string[] = [];
  const about: GrantQuestion[] = [];
  const ask: AskGrant = async (question, options, details) => {
    expect(options).toEqual(["yes", "no"]);
    questions.push(question);
    about.push(details);
    const answer = answers.shift() ?? "no";
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { ask, questions, about };
}

const q = (dir: string): string => `Allow filesystem access to ${dir}?`;

async function prompting(
  kind: (typeof KINDS)[number],
  seed: Seed,
  permissions: Omit<PermissionOptions, "mode">,
  options: Parameters<typeof place>[2] = {},
): Promise<Fixture> {
  return place(kind, seed, { ...options, permissions: { ...permissions, mode: "prompt" } });
}

const grant = (dir: string, more: Partial<Grant> = {}): Grant => ({
  dir,
  access: "write",
  granted_at: "2026-01-01T00:00:00.000Z",
  ...more,
});

describe.each(KINDS)("asking for directories on %s", (kind) => {
  const seed: Seed = {
    x: "2\n",
    "d/a": "1\n",
    "d/e/f/a": "1\n",
    "d2/a": "3\n",
    "real/a": "SECRET\n",
    "d/file": { link: "../real/a" },
    "d/sub": { link: "../real" },
    "d/out": { link: "$O/x" },
    "d/loop": { link: "loop" },
    "../out/x": "OUTSIDE\n",
  };

  const cases: readonly [
    name: string,
    answers: readonly string[],
    calls: readonly [tool: string, args: Record<string, unknown>, code: string | undefined][],
    dirs: readonly string[],
  ][] = [
    [
      "a grant covers what lies below, not the parent and not a look-alike",
      ["yes", "no", "no"],
      [
        ["list_directory", { path: "d" }, undefined],
        ["read_file", { path: "d/e/f/a" }, undefined],
        ["read_file", { path: "x" }, "GRANT_DENIED"],
        ["read_file", { path: "d2/a" }, "GRANT_DENIED"],
      ],
      ["d", "", "d2"],
    ],
    [
      "yes in any case, with blanks around it",
      [" YES\n"],
      [["read_file", { path: "d/a" }, undefined]],
      ["d"],
    ],
    [
      "whatever is not yes denies, and is asked again",
      ["y", "yes please", "", "true", "yes"],
      [
        ["read_file", { path: "d/a" }, "GRANT_DENIED"],
        ["read_file", { path: "d/a" }, "GRANT_DENIED"],
        ["read_file", { path: "d/a" }, "GRANT_DENIED"],
        ["read_file", { path: "d/a" }, "GRANT_DENIED"],
        ["read_file", { path: "d/a" }, undefined],
      ],
      ["d", "d", "d", "d", "d"],
    ],
    [
      "a yes to a read allows writing too",
      ["yes"],
      [
        ["read_file", { path: "d/a" }, undefined],
        ["write_file", { path: "d/new", content: "x" }, undefined],
        ["delete", { path: "d/new" }, undefined],
      ],
      ["d"],
    ],
    [
      "a link to a file asks for the directory it really lies in as well",
      ["yes", "no"],
      [["read_file", { path: "d/file" }, "GRANT_DENIED"]],
      ["d", "real"],
    ],
    [
      "a link to a directory asks for both",
      ["yes", "yes"],
      [
        ["read_file", { path: "d/sub/a" }, undefined],
        ["read_file", { path: "real/a" }, undefined],
      ],
      ["d/sub", "real"],
    ],
    [
      "where the real directory is granted the link's own is still asked for",
      ["yes", "no"],
      [
        ["read_file", { path: "real/a" }, undefined],
        ["read_file", { path: "d/file" }, "GRANT_DENIED"],
      ],
      ["real", "d"],
    ],
    [
      "deleting a link asks for the directory that holds it alone",
      ["yes"],
      [["delete", { path: "d/file" }, undefined]],
      ["d"],
    ],
    [
      "a missing file asks for its parent, a missing directory for itself",
      ["no", "no"],
      [
        ["read_file", { path: "d/zz" }, "GRANT_DENIED"],
        ["write_file", { path: "d/new/deep/a", content: "x" }, "GRANT_DENIED"],
      ],
      ["d", "d/new/deep"],
    ],
    [
      "a way through a file, or round in circles, asks for what is before it",
      ["no", "no"],
      [
        ["read_file", { path: "d/a/b" }, "GRANT_DENIED"],
        ["read_file", { path: "d/loop" }, "GRANT_DENIED"],
      ],
      ["d", "d"],
    ],
    [
      "outside the policy nobody is asked",
      ["yes", "yes"],
      [
        ["read_file", { path: "../out/x" }, "OUTSIDE_ALLOWED"],
        ["read_file", { path: "d/out" }, "OUTSIDE_ALLOWED"],
        ["write_file", { path: "/etc/x", content: "x" }, "OUTSIDE_ALLOWED"],
      ],
      [],
    ],
    [
      "arguments that make no sense ask nothing",
      ["yes"],
      [
        ["read_file", {}, "INVALID_ARGUMENT"],
        ["read_file", { path: "d/a", start_line: 0 }, "INVALID_ARGUMENT"],
        ["reed_file", { path: "d/a" }, "UNKNOWN_TOOL"],
      ],
      [],
    ],
    [
      "a walk needs one grant, for where it starts",
      ["yes"],
      [
        ["grep", { pattern: "1", path: "d" }, undefined],
        ["glob", { pattern: "**/*", path: "d" }, undefined],
        ["list_directory", { path: "d", depth: 5 }, undefined],
        ["read_many_files", { paths: ["d"] }, undefined],
        ["grep", { pattern: "1", path: "d/a" }, undefined],
      ],
      ["d"],
    ],
    [
      "a refused walk sees nothing",
      [],
      [
        ["grep", { pattern: "SECRET" }, "GRANT_DENIED"],
        ["glob", { pattern: "**" }, "GRANT_DENIED"],
        ["stat", { path: "real/a" }, "GRANT_DENIED"],
        ["diff", { a: "real/a", content_b: "x" }, "GRANT_DENIED"],
      ],
      ["", "", "real", "real"],
    ],
    [
      "both ends of a copy are asked for, the first refusal ends it",
      ["yes", "no", "no"],
      [
        ["copy", { source: "d/a", destination: "d2/b" }, "GRANT_DENIED"],
        ["move", { source: "real/a", destination: "d2/b" }, "GRANT_DENIED"],
      ],
      ["d", "d2", "real"],
    ],
    ["what only tells about access asks nothing", [], [["access_info", {}, undefined]], []],
  ];
  test.each(cases)("%s", async (_, answers, calls, dirs) => {
    const { ask, questions } = asked(...answers);
    const { ws, root } = await prompting(kind, seed, { ask });
    for (const [tool, args, code] of calls) {
      const result = await ws.call(tool, args);
      expect(result.error?.code, `${tool}: ${result.text}`).toBe(code);
      expect(JSON.stringify(result)).not.toContain(code === undefined ? "\0" : "SECRET\\n");
    }
    expect(questions).toEqual(dirs.map((dir) => q(dir === "" ? root : `${root}/${dir}`)));
  });

  test("no approver, and an error of the approver, deny", async () => {
    const nobody = await prompting(kind, seed, {});
    expect((await nobody.ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    const { ask, questions } = asked(new Error("gone"), 3 as never, { answer: 1 } as never, null as never);
    const { ws } = await prompting(kind, seed, { ask });
    for (let at = 0; at < 4; at++)
      expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    expect(questions).toHaveLength(4);
  });

  test("the refusal names the path as typed and nothing that it found out", async () => {
    const { ws } = await prompting(kind, seed, {});
    const { text, error } = await ws.call("read_file", { path: "d/../d/file" });
    expect(error).toMatchObject({ code: "GRANT_DENIED", path: "d/../d/file" });
    expect(text).toContain("'d/../d/file'");
    expect(text).not.toContain("real");
  });

  test("of many files those without a grant are skipped, and said to be", async () => {
    const { ask, questions } = asked("yes", "no");
    const { ws, root } = await prompting(kind, seed, { ask });
    const { data } = await ws.call("read_many_files", { paths: ["d/a", "real/a", "d/e/**/a"] });
    expect(data).toMatchObject({
      files: [{ path: "d/a" }, { path: "d/e/f/a" }],
      skipped: [{ path: "real/a", code: "GRANT_DENIED" }],
    });
    expect(questions).toEqual([q(`${root}/d`), q(`${root}/real`)]);
  });

  test("questions about one directory are one question", async () => {
    let answer: (text: string) => void = () => {};
    const questions: string[] = [];
    const ask: AskGrant = (question) => {
      questions.push(question);
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const { ws, root } = await prompting(kind, seed, { ask });
    const calls = ["d/a", "d/a", "d/zz", "d"].map((path) => ws.call("stat", { path }));
    await expect.poll(() => questions.length).toBeGreaterThan(0);
    // What lies below waits for the answer that may cover it.
    calls.push(ws.call("stat", { path: "d/e/f/a" }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    answer("yes");
    expect((await Promise.all(calls)).map((result) => result.error?.code)).toEqual([
      undefined,
      undefined,
      "NOT_FOUND",
      undefined,
      undefined,
    ]);
    expect(questions).toEqual([q(`${root}/d`)]);
  });

  test("a no to several calls that wait for it is a no to each, and the next asks again", async () => {
    const { ask, questions } = asked("no", "yes");
    const { ws } = await prompting(kind, seed, { ask });
    const all = await Promise.all([1, 2, 3].map(() => ws.call("stat", { path: "d/a" })));
    expect(all.map((result) => result.error?.code)).toEqual(Array(3).fill("GRANT_DENIED"));
    expect(questions).toHaveLength(1);
    expect((await ws.call("stat", { path: "d/a" })).ok).toBe(true);
  });

  test("a call that is cancelled during its question ends, and the question is withdrawn", async () => {
    const stop = new AbortController();
    let told: AbortSignal | undefined;
    const ask: AskGrant = (_question, _options, { signal }) => {
      told = signal;
      stop.abort();
      return new Promise((resolve) => setTimeout(() => resolve("yes"), 20));
    };
    const { ws } = await prompting(kind, seed, { ask });
    const result = await ws.call("stat", { path: "d/a" }, { signal: stop.signal });
    expect(result.error?.code).toBe("CANCELLED");
    expect(told?.aborted).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect((await ws.call("access_info", {})).data).toMatchObject({ grants: [] });
  });

  test("the question names the access, the tool and the path", async () => {
    const { ask, about } = asked("no", "no");
    const { ws, root } = await prompting(kind, seed, { ask });
    await ws.call("stat", { path: "d/a" });
    await ws.call("write_file", { path: "d/a", content: "" });
    expect(about).toMatchObject([
      { dir: `${root}/d`, access: "read", tool: "stat", path: "d/a" },
      { dir: `${root}/d`, access: "write", tool: "write_file", path: "d/a" },
    ]);
  });

  test("a name cannot forge the question", async () => {
    const { ask, questions } = asked();
    const { ws, root } = await prompting(kind, { "d\nAllow everything?\u202e/a": "1" }, { ask });
    await ws.call("read_file", { path: "d\nAllow everything?\u202e/a" });
    expect(questions).toEqual([q(`${root}/d\\nAllow everything?\\u{202e}`)]);
  });

  test("an answer may allow reading alone, for a time, and for this workspace alone", async () => {
    let now = Date.UTC(2026, 0, 1);
    const { ask, questions } = asked(
      { answer: "yes", access: "read", expires: new Date(now + 1000), remember: false, by: "Ann" },
      "no",
      "no",
    );
    const store = memoryGrants();
    const { ws, root } = await prompting(kind, seed, { ask, store, now: () => now });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    expect((await ws.call("write_file", { path: "d/a", content: "" })).error?.code).toBe("GRANT_DENIED");
    expect(await ws.grants.list()).toMatchObject([{ dir: `${root}/d`, access: "read", by: "Ann" }]);
    expect(await store.list()).toEqual([]);
    now += 1000;
    expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    expect(questions).toHaveLength(3);
    expect(await ws.grants.list()).toEqual([]);
  });

  test("grants are told, given and taken back at once", async () => {
    const { ask, questions } = asked();
    const { ws, root } = await prompting(kind, seed, { ask });
    await ws.grants.add({ dir: `${root}/d`, access: "read", expires: "2999-01-01T00:00:00.000Z" });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    const info = await ws.call("access_info", {});
    expect(info.data).toMatchObject({
      grants: [`${root}/d`],
      granted: [{ dir: `${root}/d`, access: "read", expires: "2999-01-01T00:00:00.000Z" }],
    });
    expect(info.text).toContain(`Granted: ${root}/d (read until 2999-01-01T00:00:00.000Z)`);
    expect(await ws.grants.revoke(`${root}/d`)).toBe(true);
    expect(await ws.grants.revoke(`${root}/d`)).toBe(false);
    expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    expect(questions).toHaveLength(1);
  });

  test("a grant does not widen the policy", async () => {
    const { ws, outside } = await prompting(kind, seed, { store: memoryGrants([grant("/")]) });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    for (const path of [`${outside}/x`, "d/out", "/etc/passwd"])
      expect((await ws.call("read_file", { path })).error?.code).toBe("OUTSIDE_ALLOWED");
    const readOnly = await prompting(
      kind,
      seed,
      { store: memoryGrants([grant("/")]) },
      { access: { readOnly: true } },
    );
    const result = await readOnly.ws.call("write_file", { path: "d/a", content: "" });
    expect(result.error?.code).toBe("READ_ONLY");
  });

  test("without the mode nothing is asked", async () => {
    const { ask, questions } = asked();
    const { ws } = await place(kind, seed, { permissions: { mode: "off", ask } });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    expect((await ws.call("read_file", { path: "d/file" })).ok).toBe(true);
    expect(questions).toEqual([]);
    expect(await ws.grants.list()).toEqual([]);
  });
});

test("a thousand refusals are not remembered for ever", async () => {
  const seed = Object.fromEntries(Array.from({ length: 1010 }, (_, at) => [`d${at}`, null]));
  let asked = 0;
  const { ws } = await prompting("memory", seed, { ask: () => [asked++, "no"][1] as string });
  const all = await Promise.all(Object.keys(seed).map((path) => ws.call("list_directory", { path })));
  expect(new Set(all.map(({ error }) => error?.code))).toEqual(new Set(["GRANT_DENIED"]));
  expect(asked).toBe(1010);
});

describe("a link that changes between two calls", () => {
  test("lends no right: the place it leads to is asked for", async () => {
    const { ask, questions } = asked("yes", "no");
    const { ws, root } = await prompting("local", { "d/a": "1\n", "secret/a": "SECRET\n" }, { ask });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    await rm(join(root, "d"), { recursive: true });
    await symlink("secret", join(root, "d"));
    expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    expect(questions).toEqual([q(`${root}/d`), q(`${root}/secret`)]);
  });
});

describe("the grants file", () => {
  const open = async (text: string | undefined, ask?: AskGrant) => {
    const { base, root, stateDir } = await temporary();
    const file = join(base, "state", "grants.json");
    await mkdir(join(root, "d"));
    await writeFile(join(root, "d", "a"), "1\n");
    if (text !== undefined) await writeFile(file, text.replaceAll("$W", root), { mode: 0o600 });
    const reopen = (more: Partial<PermissionOptions> = {}) =>
      openWorkspace({ root, stateDir, permissions: { mode: "prompt", grantsFile: file, ask, ...more } });
    return { root, file, stateDir, reopen };
  };
  const v1 = (...grants: readonly Partial<Grant>[]): string => JSON.stringify({ version: 1, grants });

  const understood: readonly [name: string, text: string, reads: boolean, writes: boolean][] = [
    ["a grant", v1({ dir: "$W/d", access: "write", granted_at: "2026-01-01T00:00:00Z" }), true, true],
    ["a grant of its ancestor", v1({ dir: "$W", access: "write" }), true, true],
    ["a grant with a slash at its end", v1({ dir: "$W/d/", access: "write" }), true, true],
    ["a grant to read", v1({ dir: "$W/d", access: "read", granted_at: "2026-01-01T00:00:00Z" }), true, false],
    [
      "a grant that has ended",
      v1({ dir: "$W/d", access: "write", expires: "2020-01-01T00:00:00Z" }),
      false,
      false,
    ],
    [
      "a grant that will end",
      v1({ dir: "$W/d", access: "write", expires: "2999-01-01T00:00:00Z" }),
      true,
      true,
    ],
    ["a grant of a look-alike", v1({ dir: "$W/d2", access: "write" }), false, false],
    ["no grants", v1(), false, false],
    ["the older object", '{"fs_directories":["$W/d"],"trusted_commands":["ls"]}', true, true],
    ["the older list", '["$W/d"]', true, true],
    ["the older list, empty", "[]", false, false],
  ];
  test.each(understood)("%s", async (_, text, reads, writes) => {
    const { reopen } = await open(text);
    const ws = await reopen();
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(reads);
    expect((await ws.call("write_file", { path: "d/b", content: "" })).ok).toBe(writes);
    await ws.close();
  });

  const refused: readonly [name: string, text: string][] = [
    ["broken JSON", "{oops"],
    ["nothing at all", ""],
    ["half of it", '{"version":1,"grants":[{"dir":"/'],
    ["a number", "3"],
    ["null", "null"],
    ["an object of something else", '{"mcpServers":{}}'],
    ["a later version", '{"version":2,"grants":[]}'],
    ["grants that are no list", '{"version":1,"grants":{}}'],
    ["directories that are no list", '{"fs_directories":"/"}'],
    ["a relative directory", '{"version":1,"grants":[{"dir":"d","access":"read"}]}'],
    ["an older relative directory", '["d"]'],
    ["an entry that is none", '{"version":1,"grants":[3]}'],
    ["an older entry that is none", "[null]"],
    ["an access that is none", '{"version":1,"grants":[{"dir":"/d","access":"admin"}]}'],
    ["an end that is no time", '{"version":1,"grants":[{"dir":"/d","expires":"soon"}]}'],
    ["a giver that is no text", '{"version":1,"grants":[{"dir":"/d","by":7}]}'],
    ["a NUL in a directory", '["/a\\u0000b"]'],
  ];
  test.each(refused)("%s is refused, and left as it is", async (_, text) => {
    const { file, reopen } = await open(text);
    await expect(reopen()).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(file),
    });
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("others could have written it", async () => {
    for (const mode of [0o666, 0o602, 0o622, 0o660, 0o620]) {
      const { file, reopen } = await open(v1());
      await chmod(file, mode);
      await expect(reopen()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const { file, reopen } = await open(v1());
    await chmod(file, 0o644);
    await (await reopen()).close();
  });

  test("a link and a directory in its place", async () => {
    const linked = await open(v1());
    await rm(linked.file);
    await writeFile(`${linked.file}.real`, v1(), { mode: 0o600 });
    await symlink(`${linked.file}.real`, linked.file);
    await expect(linked.reopen()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const nowhere = await open(undefined);
    await symlink("nowhere", nowhere.file);
    await expect(nowhere.reopen()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const directory = await open(undefined);
    await mkdir(directory.file);
    await expect(directory.reopen()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a yes is written down for this user alone, and holds in the next life; a no is not", async () => {
    const { ask, questions } = asked("no", "yes");
    const { root, file, reopen } = await open(undefined, ask);
    const first = await reopen();
    expect((await first.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
    expect((await first.call("read_file", { path: "d/a" })).ok).toBe(true);
    await first.close();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      version: 1,
      grants: [{ dir: join(root, "d"), access: "write", granted_at: expect.stringMatching(/^20\d\d-.*Z$/u) }],
    });
    const second = await reopen();
    expect((await second.call("write_file", { path: "d/b", content: "" })).ok).toBe(true);
    expect(questions).toHaveLength(2);
  });

  test("a file that others may read is closed to them by the next grant, and what else it holds stays", async () => {
    const { ask } = asked("yes");
    const { root, file, reopen } = await open(
      '{"fs_directories":["/elsewhere"],"trusted_commands":["ls"]}',
      ask,
    );
    await chmod(file, 0o644);
    const ws = await reopen();
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      version: 1,
      trusted_commands: ["ls"],
      grants: [
        { dir: "/elsewhere", access: "write" },
        { dir: join(root, "d"), access: "write" },
      ],
    });
  });

  test("what another process revokes or adds holds at once", async () => {
    const { root, file, stateDir, reopen } = await open(undefined);
    const ws = await reopen();
    const other = await openGrantsFile(file, { stateDir });
    await other.add(grant(join(root, "d")));
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    expect(await other.remove(join(root, "d"))).toBe(true);
    expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
  });

  test("a file that is tampered with later grants nothing", async () => {
    const { file, reopen } = await open('["$W/d"]');
    const ws = await reopen();
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    await chmod(file, 0o666);
    expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    await chmod(file, 0o600);
    await writeFile(file, "{oops");
    expect((await ws.call("read_file", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("access_info", {})).error?.code).toBe("INVALID_ARGUMENT");
    expect(await readFile(file, "utf8")).toBe("{oops");
  });

  test("of two grants of one directory the longer stays, and those that ended go with the next", async () => {
    const { file, stateDir } = await open(
      v1({ dir: "/old", access: "write", expires: "2020-01-01T00:00:00Z" }),
    );
    const grants = await openGrantsFile(file, { stateDir });
    const until = (year: number) => grant("/g", { expires: `${year}-01-01T00:00:00.000Z` });
    for (const one of [until(2998), until(2999), until(2997), grant("/g", { access: "read" })])
      await grants.add(one);
    expect(grants.list()).toMatchObject([
      { dir: "/g", access: "write", expires: "2999-01-01T00:00:00.000Z" },
      { dir: "/g", access: "read" },
    ]);
    await grants.add(grant("/g"));
    await grants.add(until(2999));
    expect(grants.list().map(({ expires }) => expires)).toEqual([undefined, undefined]);
    const before = await readFile(file, "utf8");
    expect(await grants.remove("/unknown")).toBe(false);
    expect(await readFile(file, "utf8")).toBe(before);
    await expect(grants.add(grant("relative"))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a file of another user, and one that is too large for a list of directories", async () => {
    const huge = await open(v1());
    await truncate(huge.file, 17 * 1024 * 1024);
    await expect(huge.reopen()).rejects.toMatchObject({ message: expect.stringContaining("larger") });
    if (process.getuid?.() !== 0) return; // Only root can give a file away.
    const { file, reopen } = await open(v1());
    await chown(file, 65_534, 65_534);
    await expect(reopen()).rejects.toMatchObject({ message: expect.stringContaining("another user") });
  });

  test("two that write at once lose nothing", async () => {
    const { file, stateDir } = await open(undefined);
    const files = await Promise.all([1, 2, 3].map(() => openGrantsFile(file, { stateDir })));
    await Promise.all(
      files.flatMap((one, i) => Array.from({ length: 5 }, (_, k) => one.add(grant(`/g/${i}/${k}`)))),
    );
    expect(parseGrants(await readFile(file, "utf8")).grants).toHaveLength(15);
  });
});

describe("a grants file inside a root", () => {
  const inside = async (name: string, seed: Seed, mode: "prompt" | "off", ask?: AskGrant) => {
    const { root, stateDir } = await temporary(seed);
    const ws = await openWorkspace({
      root,
      stateDir,
      permissions: { mode, grantsFile: join(root, name), ask },
    });
    return { ws, root };
  };
  const seed: Seed = {
    "g/h/grants.json": '{"version":1,"grants":[]}',
    l: { link: "g/h/grants.json" },
    f: "1",
  };

  test.each(["prompt", "off"] as const)("is out of every tool's reach, mode %s", async (mode) => {
    const yes: AskGrant = () => "yes";
    const { ws, root } = await inside("g/h/grants.json", seed, mode, yes);
    const calls: readonly [string, Record<string, unknown>][] = [
      ["write_file", { path: "g/h/grants.json", content: "[]" }],
      ["write_file", { path: "g/./h/../h/grants.json", content: "[]" }],
      ["write_file", { path: "l", content: "[]" }],
      ["write_file", { path: "g/h/grants.json", content: "x", append: true }],
      ["edit_file", { path: "g/h/grants.json", old_text: "1", new_text: "2" }],
      ["edit_file", { path: "l", old_text: "1", new_text: "2" }],
      ["delete", { path: "g/h/grants.json" }],
      ["delete", { path: "g/h", recursive: true }],
      ["delete", { path: "g", recursive: true }],
      ["move", { source: "g", destination: "z" }],
      ["move", { source: "g/h", destination: "z" }],
      ["move", { source: "g/h/grants.json", destination: "z" }],
      ["move", { source: "f", destination: "g/h/grants.json", overwrite: true }],
      ["copy", { source: "f", destination: "g/h/grants.json", overwrite: true }],
    ];
    for (const [tool, args] of calls) {
      const { error, text } = await ws.call(tool, args);
      expect(["PROTECTED_PATH", "OUTSIDE_ALLOWED"], `${tool} ${JSON.stringify(args)}: ${text}`).toContain(
        error?.code,
      );
    }
    expect(await readFile(join(root, "g/h/grants.json"), "utf8")).toMatch(/^\{\s*"version": ?1,/u);
  });

  test("its directory cannot be granted, and is not asked for", async () => {
    const { ask, questions } = asked("yes", "yes", "yes");
    const { ws, root } = await inside(
      "g/h/grants.json",
      { ...seed, "g/h/x": "1", "g/h/sub/x": "1" },
      "prompt",
      ask,
    );
    expect((await ws.call("read_file", { path: "g/h/x" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("list_directory", { path: "g/h" })).error?.code).toBe("GRANT_DENIED");
    expect(questions).toEqual([]);
    expect((await ws.call("read_file", { path: "f" })).ok).toBe(true);
    expect((await ws.call("read_file", { path: "g/h/x" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("write_file", { path: "g/h/evil", content: "" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("grep", { pattern: "version" })).data).toMatchObject({ total_matches: 0 });
    expect(questions).toEqual([q(root)]);
  });

  test("its directory cannot be taken away before the file is there", async () => {
    const { ws } = await inside("g/h/grants.json", { "g/h/x": "1" }, "prompt", () => "yes");
    for (const [tool, args] of [
      ["move", { source: "g", destination: "z" }],
      ["delete", { path: "g/h", recursive: true }],
    ] as const) {
      expect((await ws.call(tool, args)).error?.code).toBe("PROTECTED_PATH");
    }
  });
});

describe("options", () => {
  const wrong: readonly [name: string, permissions: unknown][] = [
    ["a mode that does not exist", { mode: "ask" }],
    ["a file and a store", { mode: "prompt", grantsFile: "/tmp/x", store: memoryGrants() }],
    ["a key that does not exist", { mode: "prompt", grants_file: "/tmp/x" }],
  ];
  test.each(wrong)("refuses %s", async (_, permissions) => {
    await expect(openWorkspace({ root: "/", permissions } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});
