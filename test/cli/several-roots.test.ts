/** The past of a server of several directories: history, undo and rewind work in each of them. */
import { mkdir, readFile, realpath, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { type Ran, runInProcess } from "../support/in-process.ts";

let base: string;
const at = (...names: readonly string[]): string => join(base, ...names);
const text = (...names: readonly string[]): Promise<string> => readFile(at(...names), "utf8");

const run = (directory: string, ...args: readonly string[]): Promise<Ran> =>
  runInProcess(args, { cwd: at(directory), env: { PATH: process.env["PATH"], XDG_STATE_HOME: at("state") } });

/** Changes both directories as a server of both does. */
async function serve(...steps: readonly (readonly [tool: string, args: object])[]): Promise<void> {
  const ws = await openWorkspace({
    roots: [at("one"), at("two")],
    stateDir: at("state/filewright"),
    guard: "off",
  });
  for (const [tool, args] of steps) expect(await ws.call(tool, args)).toMatchObject({ ok: true });
  await ws.close();
}

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "filewright-roots-")));
  await mkdir(at("base"));
  for (const name of ["one", "two"]) {
    await mkdir(at(name));
    await writeFile(at(name, "a.txt"), `${name}\n`);
  }
  await serve(
    ["write_file", { path: "a.txt", content: "one changed\n" }],
    ["write_file", { path: at("two/a.txt"), content: "two changed\n" }],
    ["write_file", { path: "new.txt", content: "n\n" }],
    ["write_file", { path: at("two/new.txt"), content: "n\n" }],
  );
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe.each(["one", "two"] as const)("in directory %s", (name) => {
  const other = name === "one" ? "two" : "one";

  test("history lists what was changed in all directories of the server, each line with its directory", async () => {
    const rows = JSON.parse((await run(name, "history", "--json")).out) as readonly {
      paths: readonly string[];
      directories: readonly string[];
    }[];
    expect(rows.map(({ paths, directories }) => [...directories, ...paths])).toEqual([
      [at("two"), at("two/new.txt")],
      [at("one"), at("one/new.txt")],
      [at("two"), at("two/a.txt")],
      [at("one"), at("one/a.txt")],
    ]);
    const { out, status } = await run(name, "history");
    const lines = out.trim().split("\n");
    expect([status, lines.length]).toEqual([0, 4]);
    expect(lines[0]).toMatch(new RegExp(`${at("two")} +new\\.txt$`, "u"));
    expect(lines[3]).toMatch(new RegExp(`${at("one")} +a\\.txt$`, "u"));
    const one = JSON.parse(
      (await run(name, "history", "--path", "new.txt", "--json")).out,
    ) as readonly object[];
    expect(one).toMatchObject([{ directories: [at(name)] }]);
  });

  test("undo takes the last changes there back, one after the other, and then says that none is left", async () => {
    expect(await run(name, "undo")).toMatchObject({ status: 0, err: "" });
    await expect(text(name, "new.txt")).rejects.toThrow("ENOENT");
    expect(await run(name, "undo")).toMatchObject({ status: 0, err: "" });
    expect(await text(name, "a.txt")).toBe(`${name}\n`);
    expect(await run(name, "undo")).toMatchObject({
      status: 1,
      err: expect.stringContaining("There is no change to undo"),
    });
    expect([await text(other, "a.txt"), await text(other, "new.txt")]).toEqual([`${other} changed\n`, "n\n"]);
  });

  test("undo and history show find each id of the server", async () => {
    const rows = JSON.parse((await run(name, "history", "--json")).out) as readonly {
      callId: string;
      directories: readonly string[];
    }[];
    const id = rows.find(({ directories }) => directories.includes(at(other)))?.callId as string;
    expect((await run(name, "history", "show", id)).out).toContain(
      `${other === "one" ? "" : "/two/"}new.txt`,
    );
    expect(await run(name, "undo", id)).toMatchObject({ status: 0 });
    await expect(text(other, "new.txt")).rejects.toThrow("ENOENT");
  });

  test("rewind takes back what was changed there, and nothing elsewhere", async () => {
    const rewound = await run(name, "rewind", "10m", "--yes");
    expect(rewound).toMatchObject({ status: 0, err: "" });
    for (const file of ["a.txt", "new.txt"])
      expect(rewound.out).toContain(
        `! ${at(other, file)} stays: it is in another directory; filewright rewind 10m --root ${at(other)} takes it back`,
      );
    expect(await text(name, "a.txt")).toBe(`${name}\n`);
    await expect(text(name, "new.txt")).rejects.toThrow("ENOENT");
    expect([await text(other, "a.txt"), await text(other, "new.txt")]).toEqual([`${other} changed\n`, "n\n"]);
    // It is a change, and the next undo takes it back.
    const [last] = JSON.parse((await run(name, "history", "--json")).out) as readonly { callId: string }[];
    expect(await run(name, "undo", last?.callId as string)).toMatchObject({ status: 0 });
    expect(await text(name, "new.txt")).toBe("n\n");
  });

  test("rewind takes paths of that directory", async () => {
    expect(await run(name, "rewind", "10m", "a.txt", "--yes")).toMatchObject({ status: 0, err: "" });
    expect([await text(name, "a.txt"), await text(name, "new.txt")]).toEqual([`${name}\n`, "n\n"]);
  });

  test("--root means the same from elsewhere", async () => {
    expect(await run(other, "undo", "--root", at(name))).toMatchObject({ status: 0, err: "" });
    await expect(text(name, "new.txt")).rejects.toThrow("ENOENT");
    expect(await text(other, "new.txt")).toBe("n\n");
  });
});

describe("changes of the directory's own, beside those of the server", () => {
  beforeEach(async () => {
    expect((await run("two", "write", "own.txt", "--content", "o\n")).status).toBe(0);
    await serve(["write_file", { path: at("two/later.txt"), content: "l\n" }]);
  });

  /** The histories of a list, by the tool and the last path of each change. */
  async function listed(...args: readonly string[]): Promise<readonly (readonly [string, string])[]> {
    const { out } = await run("two", "history", "--json", ...args);
    const rows = JSON.parse(out) as readonly { callId: string; paths: readonly string[] }[];
    return rows.map(({ callId, paths }) => [callId, paths.at(-1) as string]);
  }

  test("are one list, in the order of time", async () => {
    expect((await listed()).map(([, path]) => path)).toEqual([
      at("two/later.txt"),
      at("two/own.txt"),
      at("two/new.txt"),
      at("one/new.txt"),
      at("two/a.txt"),
      at("one/a.txt"),
    ]);
    expect(await run("two", "history")).toMatchObject({ err: "" });
    expect(await listed("--limit", "1")).toHaveLength(1);
  });

  test("are undone in that order, and each by its id", async () => {
    expect(await run("two", "undo")).toMatchObject({ status: 0, err: "" });
    await expect(text("two", "later.txt")).rejects.toThrow("ENOENT");
    expect(await text("two", "own.txt")).toBe("o\n");
    expect(await run("two", "undo")).toMatchObject({ status: 0, err: "" });
    await expect(text("two", "own.txt")).rejects.toThrow("ENOENT");
    const id = (await listed()).find(([, path]) => path === at("one/new.txt"))?.[0] as string;
    expect(await run("two", "undo", id.slice(0, -1))).toMatchObject({ status: 0, err: "" });
    await expect(text("one", "new.txt")).rejects.toThrow("ENOENT");
  });

  test("are shown by the id, of whichever history", async () => {
    for (const [id, path] of await listed()) {
      const { out, status } = await run("two", "history", "show", id);
      expect([status, out]).toEqual([0, expect.stringContaining(path.slice(path.lastIndexOf("/") + 1))]);
    }
  });

  test("rewind names what another history has changed since, with the command that takes it back", async () => {
    const rewound = await run("two", "rewind", "10m", "--yes");
    const [, command] = new RegExp(
      `^! ${at("two/own.txt")} stays as another history left it; (filewright rewind \\S+) takes that back$`,
      "mu",
    ).exec(rewound.out) as unknown as readonly [string, string];
    expect([await text("two", "own.txt"), await text("two", "a.txt")]).toEqual(["o\n", "two\n"]);
    expect(await run("two", ...command.split(" ").slice(1), "--yes")).toMatchObject({ status: 0 });
    await expect(text("two", "own.txt")).rejects.toThrow("ENOENT");
    expect(await text("one", "a.txt")).toBe("one changed\n");
  });

  test("several --root are one list, and act on each", async () => {
    await mkdir(at("three"));
    expect((await run("three", "write", "c.txt", "--content", "c\n")).status).toBe(0);
    const both = ["--root", at("three"), "--root", at("one")];
    const { out } = await run("base", "history", ...both, "--json");
    const rows = JSON.parse(out) as readonly { directories: readonly string[] }[];
    expect(new Set(rows.flatMap(({ directories }) => directories))).toEqual(
      new Set([at("one"), at("two"), at("three")]),
    );
    expect(await run("base", "undo", ...both)).toMatchObject({ status: 0, err: "" });
    await expect(text("three", "c.txt")).rejects.toThrow("ENOENT");
    expect(await run("base", "undo", ...both)).toMatchObject({ status: 0, err: "" });
    await expect(text("one", "new.txt")).rejects.toThrow("ENOENT");
  });
});

test("a note that is damaged, or names directories that are gone, changes nothing", async () => {
  await rm(at("one"), { recursive: true });
  expect(await run("two", "undo")).toMatchObject({ status: 1 });
  expect(await run("two", "history")).toMatchObject({ status: 0, out: "Nothing to undo.\n" });
});
