/** The file of grants: what is read from it, what is refused, and who can write it. */
import { chmod, chown, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type AskGrant,
  type Grant,
  openGrantsFile,
  openWorkspace,
  type PermissionOptions,
  parseGrants,
} from "../../js/index.node.ts";
import { type Seed, temporary } from "../tools/harness.ts";
import { asked, grant, q } from "./asking.ts";

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
    expect(await grants.list()).toMatchObject([
      { dir: "/g", access: "write", expires: "2999-01-01T00:00:00.000Z" },
      { dir: "/g", access: "read" },
    ]);
    await grants.add(grant("/g"));
    await grants.add(until(2999));
    expect((await grants.list()).map(({ expires }) => expires)).toEqual([undefined, undefined]);
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
