import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type AskGrant,
  grantsIn,
  memoryRecords,
  openWorkspace,
  type PermissionOptions,
} from "../../js/index.node.ts";
import { KINDS, type Fixture, place, type Seed } from "../tools/harness.ts";
import { asked, grant, q } from "./asking.ts";

async function prompting(
  kind: (typeof KINDS)[number],
  seed: Seed,
  permissions: Omit<PermissionOptions, "mode">,
  options: Parameters<typeof place>[2] = {},
): Promise<Fixture> {
  return place(kind, seed, { ...options, permissions: { ...permissions, mode: "prompt" } });
}

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
    const records = memoryRecords();
    const { ws, root } = await prompting(kind, seed, { ask, now: () => now }, { records });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    expect((await ws.call("write_file", { path: "d/a", content: "" })).error?.code).toBe("GRANT_DENIED");
    expect(await ws.grants.list()).toMatchObject([{ dir: `${root}/d`, access: "read", by: "Ann" }]);
    expect(await grantsIn({ records }).list()).toEqual([]);
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
    const records = memoryRecords();
    await grantsIn({ records }).add(grant("/"));
    const { ws, outside } = await prompting(kind, seed, {}, { records });
    expect((await ws.call("read_file", { path: "d/a" })).ok).toBe(true);
    for (const path of [`${outside}/x`, "d/out", "/etc/passwd"])
      expect((await ws.call("read_file", { path })).error?.code).toBe("OUTSIDE_ALLOWED");
    const readOnly = await prompting(kind, seed, {}, { records, access: { readOnly: true } });
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

describe("options", () => {
  const wrong: readonly [name: string, permissions: unknown][] = [
    ["a mode that does not exist", { mode: "ask" }],
    ["a store of its own", { mode: "prompt", store: memoryRecords() }],
    ["a key that does not exist", { mode: "prompt", grants_file: "/tmp/x" }],
  ];
  test.each(wrong)("refuses %s", async (_, permissions) => {
    await expect(openWorkspace({ root: "/", permissions } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});
