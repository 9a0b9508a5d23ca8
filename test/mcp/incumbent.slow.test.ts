/**
 * The filesystem server of the Model Context Protocol compared with ours: cases that fail
 * there and not here. Each case is run against both, through the same client;
 * `docs/mcp.md` has the table.
 *
 * Skipped only where npm cannot install that server.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PRESETS } from "../../js/presets/index.ts";
import type { Schema } from "../../js/tools/lib/schema.ts";
import { installed } from "../package/installed.ts";
import { type Connected, connectToProcess, DROP_IN, scratch } from "./harness.ts";
import { CASES as UNIT_CASES } from "./incumbent/cases.ts";
import { DIFFERENCES } from "./incumbent/differences.ts";
import { theirs as theirUnits } from "./incumbent/theirs.ts";
import { outcome, type Units } from "./incumbent/units.ts";

const HOME = resolve(import.meta.dirname, "../../.cache/incumbent");
const THEIRS = join(HOME, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const unavailable = installed(join(import.meta.dirname, "incumbent/package.json"), HOME);
if (unavailable !== undefined) console.error(`note: nothing to compare with: ${unavailable}`);

/** One case: whether a server did right. */
interface Case {
  readonly name: string;
  right(server: Connected, dir: string, second: string): Promise<boolean>;
}

const edit = (oldText: string, newText: string) => ({ edits: [{ oldText, newText }] });
const bytes = (...codes: number[]): Buffer => Buffer.from(codes);

const CASES: readonly Case[] = [
  {
    name: "twenty parallel edits of one file all survive",
    async right(server, dir) {
      const path = join(dir, "parallel.txt");
      const lines = Array.from({ length: 20 }, (_, n) => `line ${n};`);
      await writeFile(path, `${lines.join("\n")}\n`);
      const answers = await Promise.all(
        lines.map((line, n) => server.call("edit_file", { path, ...edit(line, `done ${n};`) })),
      );
      const done = (await readFile(path, "utf8")).match(/^done/gmu)?.length ?? 0;
      return done === answers.filter(({ isError }) => !isError).length && done === 20;
    },
  },
  {
    name: "an edit of a file with CRLF keeps its line ends",
    async right(server, dir) {
      const path = join(dir, "crlf.txt");
      await writeFile(path, "a\r\nb\r\nc\r\n");
      await server.call("edit_file", { path, ...edit("b", "B") });
      return (await readFile(path, "utf8")) === "a\r\nB\r\nc\r\n";
    },
  },
  {
    name: "an edit elsewhere keeps a Latin-1 byte",
    async right(server, dir) {
      const path = join(dir, "latin.txt");
      await writeFile(path, Buffer.concat([Buffer.from("caf"), bytes(0xe9), Buffer.from("\nsecond\n")]));
      await server.call("edit_file", { path, ...edit("second", "2nd") });
      const now = await readFile(path);
      return now.includes(bytes(0xe9)) && now.includes("2nd");
    },
  },
  {
    name: "UTF-16 is read as text",
    async right(server, dir) {
      const path = join(dir, "utf16.txt");
      await writeFile(path, Buffer.concat([bytes(0xff, 0xfe), Buffer.from("grüße\n", "utf16le")]));
      return (await server.call("read_text_file", { path })).text === "grüße\n";
    },
  },
  {
    name: "a binary file is refused instead of read as text",
    async right(server, dir) {
      const path = join(dir, "binary.dat");
      await writeFile(path, Buffer.from(Array.from({ length: 2000 }, (_, n) => (n * 37) % 256)));
      return (await server.call("read_text_file", { path })).isError;
    },
  },
  {
    name: "a method found with another indentation keeps its own",
    async right(server, dir) {
      const path = join(dir, "method.py");
      const body = "class A:\n    def f(self):\n        x = 1\n        return x\n";
      await writeFile(path, body);
      const old = "def f(self):\n    x = 1\n    return x";
      const { isError } = await server.call("edit_file", {
        path,
        ...edit(old, "def f(self):\n    x = 2\n    return x"),
      });
      const now = await readFile(path, "utf8");
      return now === body.replace("x = 1", "x = 2") || (isError && now === body);
    },
  },
  {
    name: "text that stands in the file three times is refused",
    async right(server, dir) {
      const path = join(dir, "three.txt");
      await writeFile(path, "x = 1\ny\nx = 1\ny\nx = 1\n");
      return (await server.call("edit_file", { path, ...edit("x = 1", "x = 2") })).isError;
    },
  },
  {
    name: "empty text is refused",
    async right(server, dir) {
      const path = join(dir, "empty-old.txt");
      await writeFile(path, "a\n");
      return (await server.call("edit_file", { path, ...edit("", "b") }).catch(() => REFUSED)).isError;
    },
  },
  {
    name: "an edit that changes nothing is told",
    async right(server, dir) {
      const path = join(dir, "noop.txt");
      await writeFile(path, "a\n");
      return (await server.call("edit_file", { path, ...edit("a", "a") })).isError;
    },
  },
  {
    name: "a file is written into a directory that is missing",
    async right(server, dir) {
      const path = join(dir, "new/deep/file.txt");
      await server.call("write_file", { path, content: "x" });
      return existsSync(path);
    },
  },
  {
    name: "reading a directory says what to do",
    async right(server, dir) {
      const { isError, text } = await server.call("read_text_file", { path: dir });
      return isError && !text.includes("EISDIR") && text.includes("list_directory");
    },
  },
  {
    name: "a relative path is found in the second directory",
    async right(server, _dir, second) {
      await writeFile(join(second, "second.txt"), "here");
      return (await server.call("read_text_file", { path: "second.txt" })).text === "here";
    },
  },
  {
    name: "the last line is the last line",
    async right(server, dir) {
      const path = join(dir, "tail.txt");
      await writeFile(path, "1\n2\n3\n");
      return (await server.call("read_text_file", { path, tail: 1 })).text === "3";
    },
  },
  ...[0, -3, 1.5].map(
    (head): Case => ({
      name: `9 head: ${head} is refused`,
      async right(server, dir) {
        const path = join(dir, "head.txt");
        await writeFile(path, "1\n2\n3\n");
        return (await server.call("read_text_file", { path, head }).catch(() => REFUSED)).isError;
      },
    }),
  ),
  {
    name: "a link is listed as a link",
    async right(server, dir) {
      await mkdir(join(dir, "links/target"), { recursive: true });
      await symlink("target", join(dir, "links/to-directory"));
      return (await server.call("list_directory", { path: join(dir, "links") })).text.includes(
        "[LINK] to-dir",
      );
    },
  },
  {
    name: "a byte order mark is not part of the text",
    async right(server, dir) {
      const path = join(dir, "bom.txt");
      await writeFile(path, "\ufeffhello\n");
      return (await server.call("read_text_file", { path })).text === "hello\n";
    },
  },
];

/** Root may write anything: the case needs another user. */
const NOBODY = 65534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] as const;
const unprivileged =
  process.getuid?.() === 0 &&
  spawnSync(AS_NOBODY[0], [...AS_NOBODY.slice(1), "test", "-r", DROP_IN]).status === 0;

const REFUSED = { isError: true, text: "", content: [], structured: undefined, meta: {} };

/** Reduces a schema to what a caller must know: names, types, choices, defaults, and required parameters. */
function shape(schema: Schema): unknown {
  const { type, properties, items, required = [], enum: choices, default: byDefault } = schema;
  return {
    type,
    ...(choices === undefined ? {} : { choices }),
    ...(byDefault === undefined ? {} : { byDefault }),
    ...(items === undefined ? {} : { items: shape(items) }),
    ...(properties === undefined
      ? {}
      : {
          required: [...required].sort(),
          properties: Object.fromEntries(
            Object.keys(properties)
              .sort()
              .map((name) => [name, shape(properties[name] as Schema)]),
          ),
        }),
  };
}

describe.skipIf(unavailable !== undefined)("the filesystem server and ours", () => {
  // One process of each serves all cases, since its start takes longer than any. So no two cases change the same file.
  const started: AsyncDisposable[] = [];
  const served: { isOurs: boolean; connected: Connected; first: string; second: string }[] = [];
  beforeAll(async () => {
    for (const server of [THEIRS, DROP_IN]) {
      const [first, second] = [await scratch(), await scratch()];
      await chmod(first.dir, 0o755);
      const connected = await connectToProcess([server, first.dir, second.dir]);
      started.push(first, second, connected);
      served.push({ isOurs: server === DROP_IN, connected, first: first.dir, second: second.dir });
    }
  });
  afterAll(async () => {
    for (const one of started.reverse()) await one[Symbol.asyncDispose]();
  });

  test.each(CASES)("$name", async ({ right }) => {
    for (const { isOurs, connected, first, second } of served)
      expect(await right(connected, first, second), isOurs ? "ours" : "theirs").toBe(isOurs);
  });

  test.skipIf(!unprivileged)("a file without write permission is not replaced", async () => {
    for (const [server, expected] of [
      [THEIRS, true],
      [DROP_IN, false],
    ] as const) {
      await using at = await scratch();
      await using state = await scratch();
      const path = join(at.dir, "read-only.txt");
      await writeFile(path, "as it was");
      await chmod(path, 0o444);
      for (const owned of [at.dir, state.dir, path]) await chown(owned, NOBODY, NOBODY);
      const env = { HOME: state.dir, XDG_STATE_HOME: state.dir };
      await using connected = await connectToProcess([server, at.dir], { wrap: AS_NOBODY, env });
      await connected.call("write_file", { path, content: "changed" });
      expect((await readFile(path, "utf8")) === "changed", server === THEIRS ? "theirs" : "ours").toBe(
        expected,
      );
    }
  });

  test("preset mcp has the same tools with the same parameters", async () => {
    await using at = await scratch();
    await using theirs = await connectToProcess([THEIRS, at.dir]);
    const real = (await theirs.client.listTools()).tools;
    const ours = PRESETS.mcp.tools;
    expect(ours.map(({ name }) => name)).toEqual(real.map(({ name }) => name));
    for (const [index, { name, inputSchema, annotations }] of real.entries()) {
      const tool = ours[index]!;
      expect(shape({ ...tool.inputSchema }), name).toEqual(
        shape({ ...(inputSchema as unknown as Schema), required: inputSchema.required ?? [] }),
      );
      expect(tool.annotations.readOnlyHint, name).toBe(annotations?.readOnlyHint);
    }
  });

  test("preset canonical has the tools that it lacks", async () => {
    await using at = await scratch();
    await using theirs = await connectToProcess([THEIRS, at.dir]);
    const names = async (server: Connected): Promise<readonly string[]> =>
      (await server.client.listTools()).tools.map(({ name }) => name);
    const missing = ["grep", "glob", "delete", "copy", "apply_patch", "diff", "batch"];
    const has = await names(theirs);
    expect(missing.filter((name) => has.includes(name))).toEqual([]);
    await using ours = await connectToProcess([DROP_IN, at.dir, "--preset", "canonical"]);
    expect(await names(ours)).toEqual(expect.arrayContaining(missing));
  });
});

describe.skipIf(unavailable !== undefined)(
  "what units.test.ts has for that server's expectations is so there",
  () => {
    let units: Units;
    beforeAll(async () => {
      units = await theirUnits(dirname(THEIRS));
    }, 120_000);

    test.each([...UNIT_CASES, ...DIFFERENCES])("$of: $name", async (unit) => {
      expect(await outcome(units, unit)).toEqual(unit.gives);
    });
  },
);
