import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatLocalTime } from "../../js/cli/person/style.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, runInProcess } from "../support/in-process.ts";

let root: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "filewright-cli-")));
  await mkdir(join(root, "src"));
  await writeFile(join(root, "a.txt"), "one\ntwo\nthree\n");
  await writeFile(join(root, "src/b.ts"), "const two = 2;\n");
});
afterAll(async () => {
  for (const place of [root, `${root}-state`]) await rm(place, { recursive: true, force: true });
});

/** Runs the command; `input` goes to its standard input. */
function run(args: readonly string[], input = "", env: Record<string, string> = {}): Promise<Ran> {
  return runInProcess(args, { cwd: root, env: { ...process.env, ...env }, input });
}

describe("grants", () => {
  test("are listed and taken back", async () => {
    const env = { XDG_STATE_HOME: `${root}-state` };
    expect((await run(["grants"], "", env)).out).toMatch(/^Nothing was granted \(/u);
    const file = join(`${root}-state`, "grants.json");
    await mkdir(`${root}-state`, { recursive: true });
    const grant = { dir: "/a/b", access: "read", granted_at: "2026-01-01T00:00:00.000Z", by: "Ann" };
    const ended = {
      dir: "/c",
      access: "write",
      granted_at: grant.granted_at,
      expires: "2026-02-01T00:00:00.000Z",
    };
    const later = {
      dir: "/d",
      access: "write",
      granted_at: grant.granted_at,
      expires: "2999-02-01T00:00:00.000Z",
    };
    await writeFile(file, JSON.stringify({ version: 1, grants: [grant, ended, later] }), { mode: 0o600 });
    const listed = await run(["grants", "list", "--grants-file", file], "", env);
    const since = formatLocalTime(grant.granted_at, "seconds");
    expect(listed.out).toBe(
      `/a/b  read, since ${since} by Ann\n` +
        `/c  read and write, since ${since}, ended\n` +
        `/d  read and write, since ${since}, until ${formatLocalTime(later.expires, "seconds")}\n`,
    );
    const json = JSON.parse((await run(["grants", "--json", "--grants-file", file], "", env)).out) as unknown;
    expect(json).toMatchObject({ file, grants: [grant, ended, later] });
    const revoked = await run(["grants", "revoke", "/a/b", "/d", "--grants-file", file], "", env);
    expect(revoked).toMatchObject({ status: 0, out: "Took back /a/b\nTook back /d\n" });
    expect((await run(["grants", "revoke", "/a/b", "--grants-file", file], "", env)).status).toBe(2);
    expect((await run(["grants", "revoke", "--grants-file", file], "", env)).status).toBe(2);
    expect((await run(["grants", "list", "/a", "--grants-file", file], "", env)).status).toBe(2);
    const wrong = await run(["grants", "grant", "/a", "--grants-file", file], "", env);
    expect(wrong.err).toContain("grants can list and revoke, not 'grant'");
    await writeFile(file, "{oops");
    expect((await run(["grants", "--grants-file", file], "", env)).err).toContain("left as it is");
    await rm(file);
  });

  test("--ask refuses where there is no terminal", async () => {
    const { status, err } = await run(["call", "write_file", "--ask", "--args", '{"path":"n","content":""}']);
    expect(status).toBe(2);
    expect(err).toContain("there is no terminal to ask in");
    const dirs = await run(["read", "a.txt", "--ask-dirs"], "", { XDG_STATE_HOME: `${root}-state` });
    expect(dirs.err).toContain("was not granted");
  });
});

test("diff with standard input", async () => {
  const { status, out, err } = await run(["diff", "a.txt", "-"], "one\n2\nthree\n");
  expect([status, err]).toEqual([1, ""]);
  expect(out).toMatch(/^--- a\/a\.txt\n[\s\S]*-two\n\+2\n/u);
});

const fine: readonly [name: string, args: readonly string[], input: string, out: RegExp][] = [
  ["read", ["read", "a.txt", "--start", "2", "--lines=1"], "", /^ {5}2\ttwo\n$/],
  ["read from the end", ["read", "a.txt", "--start=-1", "--numbers", "none"], "", /^three\n$/],
  ["grep", ["grep", "two"], "", /^a\.txt:2:two\nsrc\/b\.ts:1:const two = 2;\n$/],
  ["grep with options", ["grep", "TWO", "src", "-i", "-l", "-g", "*.ts"], "", /^src\/b\.ts\n$/],
  ["a pattern that begins with a dash", ["grep", "-c", "--", "-*two"], "", /^a\.txt:1\nsrc\/b\.ts:1\n$/],
  ["glob", ["glob", "*.ts", "*.txt"], "", /^a\.txt\nsrc\/b\.ts\n$/],
  ["ls", ["ls", "--format", "tree", "--depth", "2"], "", /^src\/\n {2}b\.ts\na\.txt\n$/],
  ["stat", ["stat", "a.txt", "--hash"], "", /^name: a\.txt\n[\s\S]*^hash: sha256:[0-9a-f]{64}$/m],
  [
    "a dry run",
    ["edit", "a.txt", "--old", "two", "--new", "2", "-n"],
    "",
    /^Dry run, nothing written\n[\s\S]*-two\n\+2\n/,
  ],
  [
    "a dry run of a list",
    ["edit", "a.txt", "--edits", "-", "--dry-run"],
    '[{"old_text":"one","new_text":"1"}]',
    /-one\n\+1\n/,
  ],
  ["call", ["call", "stat", "--args", '{"path":"src"}'], "", /^type: dir$/m],
  ["call with standard input", ["call", "glob", "--args", "-"], '{"pattern":"*.ts"}', /^src\/b\.ts\n$/],
  ["tools", ["tools"], "", /^read_file +Reads a text file/m],
  ["another root", ["ls", "--root", "src"], "", /^\[FILE\] b\.ts\n$/],
  ["help", ["--help"], "", /Usage: filewright COMMAND/],
  ["help for a command", ["grep", "--help"], "", /Examples:[\s\S]*filewright grep/],
  ["the version", ["--version"], "", /^\d+\.\d+\.\d+\n$/],
];
test.each(fine)("%s", async (_, args, input, out) => {
  expect(await run(args, input)).toMatchObject({ status: 0, err: "", out: expect.stringMatching(out) });
});

const wrong: readonly [name: string, args: readonly string[], status: number, err: RegExp][] = [
  ["nothing at all", [], 2, /^$/],
  ["an unknown command", ["raed", "x"], 2, /unknown command 'raed'; did you mean 'read'\?/],
  ["an unknown option", ["read", "a.txt", "--lin", "3"], 2, /unknown option --lin; did you mean --lines\?/],
  ["too few arguments", ["read"], 2, /too few arguments; usage: filewright read PATH/],
  ["too many arguments", ["stat", "a", "b"], 2, /too many arguments, from 'b' on/],
  ["a number that is none", ["read", "a.txt", "--lines", "few"], 2, /--lines must be a whole number/],
  ["arguments that are no JSON", ["call", "stat", "--args", "{"], 2, /--args is not JSON/],
  ["an edit without its text", ["edit", "a.txt", "--new", "x"], 2, /--old/],
  ["a file that is missing", ["read", "a.tx"], 2, /Error: 'a\.tx' does not exist\. Did you mean 'a\.txt'\?/],
  ["a path outside", ["read", "/etc/passwd"], 2, /outside the allowed/],
  ["a tool that is missing", ["call", "stats"], 2, /'stat'/],
  ["a root that is missing", ["ls", "--root", "/no/such/place"], 2, /does not exist/],
];
test.each(wrong)("%s ends with its status", async (_, args, status, err) => {
  expect(await run(args)).toMatchObject({ status, err: expect.stringMatching(err) });
});

describe("output for programs", () => {
  test("--json prints the whole result, also of a failure", async () => {
    const good = await run(["stat", "a.txt", "--json"]);
    expect(JSON.parse(good.out)).toMatchObject({ ok: true, data: { size: 14 } });
    const bad = await run(["stat", "nope", "--json"]);
    expect([JSON.parse(bad.out).error.code, bad.status]).toEqual(["NOT_FOUND", 2]);
    const tools = await run(["tools", "--json"]);
    expect(JSON.parse(tools.out)[0]).toMatchObject({ name: "read_file", inputSchema: { type: "object" } });
  });

  test("no colour into a pipe", async () => {
    expect((await run(["edit", "a.txt", "--old", "two", "--new", "2", "-n"])).out).not.toContain("\u001b");
  });
});

test("edit writes the file", async () => {
  await writeFile(join(root, "e.txt"), "x\ny\nx\n");
  expect(await run(["edit", "e.txt", "--old", "x", "--new", "z", "--all"])).toMatchObject({ status: 0 });
  expect(await readFile(join(root, "e.txt"), "utf8")).toBe("z\ny\nz\n");
  await rm(join(root, "e.txt"));
});

test("the demo plays its session, and leaves nothing behind", async () => {
  const { status, out } = await run(["demo"]);
  expect(out).toMatch(
    /glob .*\n[\s\S]*grep .*\n[\s\S]*read_file .*\n[\s\S]*Dry run, nothing written[\s\S]*Edited [\s\S]*outside the allowed/,
  );
  expect(out).toMatch(/7 calls in \d+ ms\. Engine: \w+/);
  expect(status).toBe(0);
  expect(await readFile(join(root, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
});

test("history lists changes and undo takes them back", async () => {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "filewright-cli-undo-")));
  const env = { XDG_STATE_HOME: join(dir, "state") };
  await mkdir(join(dir, "ws"));
  await writeFile(join(dir, "ws/f"), "old");
  const at = ["--root", join(dir, "ws")];
  try {
    expect(await run(["history", ...at], "", env)).toMatchObject({ status: 0, out: "Nothing to undo.\n" });
    expect((await run(["undo", ...at], "", env)).status).toBe(1);
    const args = JSON.stringify({ path: "f", content: "new" });
    expect((await run(["call", "write_file", "--args", args, ...at], "", env)).status).toBe(0);
    const { out } = await run(["history", ...at], "", env);
    expect(out).toMatch(
      /^[0-9a-z]+-[0-9a-z]+ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}write_file {2}\+1 -1 {2}f\n$/,
    );
    expect(await run(["undo", ...at], "", env)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^Undone: \w+ of f\n(?:.*\n)*[-+]/u),
    });
    expect(await readFile(join(dir, "ws/f"), "utf8")).toBe("old");
    expect((await run(["undo", out.split(" ")[0] as string, ...at], "", env)).err).toContain("changed since");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
