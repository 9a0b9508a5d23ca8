/** What a person at the command line meets: ids, times, secrets, undo and its reversal, statuses, words. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../js/cli/commands.ts";
import { openWorkspace } from "../../js/index.node.ts";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "a.txt": "one\n",
    "same.txt": "one\n",
    "b.txt": "two\n",
    ".env": "TOKEN=hidden\n",
    "key.txt": "-----BEGIN RSA PRIVATE KEY-----\nhidden\n-----END RSA PRIVATE KEY-----\n",
    "moved.txt": "stays\n",
    "dash.txt": "-old\n",
    "code.ts": "export function greet() {}\n",
  });
});
afterAll(() => at.remove());

const ok = async (...args: readonly string[]): Promise<string> => {
  const { status, out, err } = await at.run(args);
  expect(status, `${args.join(" ")}: ${err}`).toBe(0);
  return out;
};

interface Row {
  readonly callId: string;
  readonly time: string;
}
const rows = async (): Promise<readonly Row[]> => JSON.parse(await ok("history", "--json")) as readonly Row[];

describe("a person grants a secret to himself", () => {
  test.each<[readonly string[], RegExp]>([
    [["read", ".env"], /hidden/u],
    [["read", "key.txt"], /hidden/u],
    [["cat", ".env", "a.txt"], /hidden/u],
    [["grep", "hidden"], /^\.env:1:TOKEN=hidden$/mu],
    [["diff", ".env", "a.txt"], /hidden/u],
  ])("by %j with --secrets, and not without", async (args, says) => {
    expect((await at.run(args)).out).not.toContain("hidden");
    expect((await at.run([...args, "--secrets"])).out).toMatch(says);
  });

  test.each([[["read", ".env"]], [["read", "key.txt"]], [["cat", ".env"]]])(
    "the refusal of %j names the option, and not somebody to ask",
    async (args) => {
      const { err } = await at.run(args);
      expect(err).toContain("add --secrets");
      expect(err).not.toContain("ask the user");
    },
  );

  test("a command that reads no contents refuses the option, and its help does not list it", async () => {
    expect(await at.run(["history", "--secrets"])).toMatchObject({
      status: 2,
      err: expect.stringContaining("--secrets does nothing here"),
    });
    expect(await ok("history", "--help")).not.toContain("--secrets");
    expect(await ok("read", "--help")).toContain("--secrets");
  });

  test("a model is told to ask", async () => {
    const { out, err } = await at.run(["call", "read_file", "--args", '{"path":".env"}']);
    expect(`${out}${err}`).toContain("ask the user, or work without it");
  });
});

describe("ids are found by any beginning that no other has", () => {
  test("by undo, history show and rewind", async () => {
    await ok("write", "ids.txt", "--content", "1\n");
    const first = (await rows())[0]?.callId as string;
    const short = first.slice(0, -1);
    expect(await ok("history", "show", short)).toContain(first);
    expect(await ok("rewind", short, "--dry-run")).toContain("ids.txt");
    expect(await ok("undo", short)).toContain("ids.txt");
    await expect(readFile(join(at.root, "ids.txt"))).rejects.toThrow("ENOENT");
  });

  test.each([["undo"], ["history", "show"], ["rewind"]])(
    "%s %s of several names them",
    async (...command) => {
      await ok("write", "more.txt", "--content", "1\n");
      await ok("write", "more.txt", "--content", "2\n");
      const [one, two] = (await rows()) as readonly [Row, Row];
      let same = 0;
      while (one.callId[same] === two.callId[same]) same += 1;
      const { status, err } = await at.run([...command.filter(Boolean), one.callId.slice(0, same)]);
      expect([status, err]).toEqual([2, expect.stringContaining("several ids begin with")]);
      expect(err).toContain(one.callId);
    },
  );

  test("an id with control characters is shown escaped", async () => {
    const { err } = await at.run(["undo", "0\u001b[2J"]);
    expect(err).toContain("\\x1b[2J");
    expect(err).not.toContain("\u001b");
  });
});

test("times are local everywhere, in one form", async () => {
  const zone = { TZ: "Asia/Kathmandu" };
  await ok("write", "time.txt", "--content", "1\n");
  await at.run(["mark", "now"]);
  const [{ callId, time }] = (await rows()) as readonly [Row];
  const local = new Date(Date.parse(time) + 5.75 * 3_600_000).toISOString().slice(0, 16).replace("T", " ");
  for (const args of [["history"], ["history", "show", callId], ["mark"], ["rewind", callId, "--dry-run"]])
    expect((await at.run(args, "", zone)).out, args.join(" ")).toContain(local);
  expect((await at.run(["ls", "-l", "--sort", "mtime", "--desc"], "", zone)).out).toContain(local);
});

test("undo with nothing left says how to redo", async () => {
  const own = await place({ "a.txt": "one\n" });
  const first = await own.run(["undo"]);
  expect(first).toMatchObject({ status: 1, err: "There is no change to undo.\n" });
  await own.run(["edit", "a.txt", "one", "two"]);
  await own.run(["undo"]);
  const { status, err } = await own.run(["undo"]);
  expect(status).toBe(1);
  const [, id = ""] = /^There is no change to undo\. .*: filewright undo (\S+)\n$/u.exec(err) ?? [];
  expect((await own.run(["undo", id])).status).toBe(0);
  expect(await readFile(join(own.root, "a.txt"), "utf8")).toBe("two\n");
  await own.remove();
});

test("a move loses nothing, and says so", async () => {
  await ok("move", "moved.txt", "elsewhere.txt");
  const id = (await rows())[0]?.callId as string;
  const shown = await ok("history", "show", id);
  expect(shown).toContain("elsewhere.txt: moved from moved.txt");
  expect(shown).not.toContain("not known");
  expect(await ok("rewind", id, "--dry-run")).toMatch(/moved\.txt: is moved back from elsewhere\.txt$/mu);
});

test("a rewind names what it cannot reach, and does the rest", async () => {
  const other = await place({ "b.txt": "b\n" });
  const ws = await openWorkspace({
    roots: [at.root, other.root],
    stateDir: join(at.root, "../state/filewright"),
    guard: "off",
  });
  await ws.call("write_file", { path: "here.txt", content: "h\n" });
  await ws.call("write_file", { path: join(other.root, "b.txt"), content: "changed\n" });
  const [first] = (await ws.history()).slice(1);
  await ws.close();
  expect((await rows()).map(({ callId }) => callId)).toContain(first?.callId);
  // Where only one of the directories is known.
  await rm(join(at.root, "../state/filewright/journal/shared"), { recursive: true });
  const { status, out, err } = await at.run(["rewind", first?.callId as string, "--yes"]);
  expect([status, err]).toEqual([0, ""]);
  expect(out).toContain(
    `! ${other.root}/b.txt stays: it is outside the directories that may be changed here`,
  );
  await expect(readFile(join(at.root, "here.txt"))).rejects.toThrow("ENOENT");
  expect(await readFile(join(other.root, "b.txt"), "utf8")).toBe("changed\n");
  await other.remove();
});

test("demo leaves no history", async () => {
  const before = await rows();
  expect((await at.run(["demo"])).status).toBe(0);
  expect(await rows()).toEqual(before);
});

describe("diff has the statuses of diff", () => {
  test.each<[readonly string[], number, string]>([
    [["diff", "a.txt", "same.txt"], 0, ""],
    [["diff", "a.txt", "b.txt"], 1, "-one\n+two\n"],
    [["diff", "a.txt", "b.txt", "--json"], 1, '"identical": false'],
    [["diff", "a.txt", "same.txt", "--json"], 0, '"identical": true'],
    [["diff", "a.txt", "nope.txt"], 2, ""],
  ])("%j", async (args, status, out) => {
    const ran = await at.run(args);
    expect(ran.status).toBe(status);
    if (out === "") expect(ran.out).toBe("");
    else expect(ran.out).toContain(out);
  });
});

describe("help", () => {
  test.each(COMMANDS.map(({ name }) => name))("of %s explains each option once", async (name) => {
    const out = await ok(name, "--help");
    const options = out.slice(out.indexOf("\nOptions:"), out.indexOf("\nExamples:"));
    const flags = [...options.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gmu)].map(([, flag]) => flag);
    expect(flags).toEqual([...new Set(flags)]);
  });

  test("is listed", async () => {
    expect(await ok("--help")).toMatch(/^ {2}help {2,}print this text/mu);
  });
});

test.each([
  ["ls", "\u001b[2J"],
  ["version", "x\u001b]0;title\u0007"],
  ["stat", "a", "b\u202e"],
  ["access", "\r\nfilewright: done"],
  ["nope\u001b[31m"],
  ["history", "\u001b[2J"],
  ["grep", "x", "--no\u001b[2J"],
  ["audit", "\u0007"],
])("a refused command line does not control the terminal: %j", async (...args) => {
  const { err } = await at.run(args.filter((one) => one !== undefined));
  expect(err).not.toMatch(/[\p{Bidi_Control}]/u);
  const codes = [...err.replaceAll("\n", "")].map((letter) => letter.codePointAt(0) as number);
  expect(codes.every((code) => code >= 0x20 && code !== 0x7f)).toBe(true);
  expect(err.trimEnd().split("\n").length).toBe(1);
});

test("values that begin with a dash are taken", async () => {
  await ok("edit", "dash.txt", "--old", "-old", "--new", "--new text");
  expect(await readFile(join(at.root, "dash.txt"), "utf8")).toBe("--new text\n");
  await ok("write", "dash.txt", "--content", "-5\n-6\n");
  expect(await ok("read", "dash.txt", "--start", "-1", "--numbers", "none")).toBe("-6\n");
  await rm(join(at.root, "dash.txt"));
  expect(await at.run(["write", "x.txt", "--content", "--append"])).toMatchObject({ status: 2 });
});
