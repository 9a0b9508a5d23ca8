/** Test cases for the eleven methods, and for `read` and the conditions of writes, by which replicas are safe. */
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { assertFrozen, type Context, type ContractCase, DONE, emptyFiles, refused, steps } from "./case.ts";

const LONG_NAME = `${"é".repeat(127)}x`;
const TWO_TREES = { "t/a": "new", "t/b": "new", "u/a": "old", "u/b": "old" };
const NO_VERSION = refused("CONFLICT", "NOT_FOUND");
const ALL_DEPTHS = [".h/e.ts", "a.ts", "src/b.ts", "src/deep/c.ts"];

/** Starts twenty writers at once, and checks that one of them wins and that its content is there. */
async function assertOneWriter({ backend, at }: Context, condition: object): Promise<void> {
  const attempts = Array.from({ length: 20 }, async (_, i) =>
    backend.writeText(at("f"), `writer ${i}`, condition),
  );
  const results = await Promise.allSettled(attempts);
  const winners = results.flatMap(({ status }, i) => (status === "fulfilled" ? [`writer ${i}`] : []));
  assertEqual(winners, [await backend.readText(at("f"))], "the winners");
}

/** The cases about reading. */
const readingCases: readonly ContractCase[] = [
  {
    name: "reads: each path has its answer or its code",
    reads: true,
    files: { "d/f": "héllo", g: "0123456789" },
    ...steps([
      ["exists", "d/f d", true],
      ["exists", "gone gone/deep/er d/f/x a\0b", false],
      ["stat readText readBytes read", "gone gone/x", refused("NOT_FOUND")],
      ["readText readBytes read", "d", refused("IS_DIRECTORY")],
      ["readText", "a\0b a\ud800b", refused("INVALID_ARGUMENT")],
      ["readText", "g", refused("INVALID_ARGUMENT"), { encoding: "no-such" }],
      ["readBytes", "d/f/x", refused("NOT_DIRECTORY", "NOT_FOUND")],
      ["read", "g", refused("CANCELLED"), { signal: AbortSignal.abort() }],
      ["read", "g", "234", { range: { start: 2, end: 5 } }],
      ["read", "g", "89", { range: { start: 8, end: 99 } }],
      ["read", "g", "", { range: { start: 50, end: 60 } }],
      ["read", "g", "", { range: { start: 3, end: 3 } }],
      ["read", "g", refused("INVALID_ARGUMENT"), { range: { start: -1, end: 2 } }],
      ["read", "g", refused("INVALID_ARGUMENT"), { range: { start: 5, end: 2 } }],
      ["read", "g", refused("INVALID_ARGUMENT"), { range: { start: Number.NaN, end: 2 } }],
      ["read", "g", refused("TOO_LARGE"), { maxBytes: 9 }],
      ["read", "g", "0123456789", { maxBytes: 10 }],
      ["read", "g", "012", { maxBytes: 3, range: { start: 0, end: 3 } }],
      ["listDir iterFiles", "gone", refused("NOT_FOUND")],
      ["listDir iterFiles", "g", refused("NOT_DIRECTORY")],
      ["glob", "", refused("INVALID_GLOB"), "["],
    ]),
  },
  {
    name: "facts: of files, of directories and of what was read, frozen",
    reads: true,
    files: { "d/f": "héllo" },
    run: async ({ backend, at }) => {
      const [file, dir] = [await backend.stat(at("d/f")), await backend.stat(at("d"))];
      assertEqual(
        [file.path, file.type, file.isFile, file.isDir],
        [at("d/f"), "file", true, false],
        "a file",
      );
      assertEqual([dir.path, dir.type, dir.isFile, dir.isDir], [at("d"), "dir", false, true], "a directory");
      assertTrue(file.size === 6 && Number.isFinite(file.mtime), "size in bytes, mtime in milliseconds");
      const listed = [...(await backend.listDir(at(""))), ...(await backend.listDir(at("d")))];
      assertEqual(
        listed.map(({ path, type, isDir, isFile, size = 6 }) => [path, type, isDir, isFile && size]),
        [
          [at("d"), "dir", true, false],
          [at("d/f"), "file", false, 6],
        ],
        "the entries",
      );
      for (const one of [file, dir, ...listed]) assertFrozen(one, "facts");
      const read = await backend.read(at("d/f"));
      if (read === null || file.version === undefined) return;
      assertEqual([read.stat.path, read.stat.size], [at("d/f"), 6], "the facts of a read");
      assertTrue(read.version !== "" && read.version === file.version, "the version of a read");
      assertFrozen(read.stat, "the facts of a read");
    },
  },
  {
    name: "content: every byte of 8 MiB, marks and line ends of texts, and no text of other bytes",
    run: async ({ backend, at }) => {
      const bytes = new Uint8Array(8 << 20);
      for (let i = 0; i < bytes.length; i += 4093) bytes[i] = i % 256;
      await backend.writeBytes(at("big"), bytes);
      bytes[0] = 9;
      const read = await backend.readBytes(at("big"));
      read[1] = 9;
      bytes[0] = 0;
      assertEqual(await backend.readBytes(at("big")), bytes, "the content, although the arrays were changed");
      assertEqual((await backend.stat(at("big"))).size, bytes.length, "the size");
      for (const text of ["\ufeffone\r\ntwo\rthree\u{1f600}\0end", ""]) {
        await backend.writeText(at("text"), text);
        assertEqual(await backend.readText(at("text")), text, "a text");
      }
      await backend.writeBytes(at("f"), new Uint8Array([0x61, 0xff, 0xfe, 0x62]));
      await assertFails(() => backend.readText(at("f")), "ENCODING_ERROR", "no UTF-8");
    },
  },
  {
    name: "listDir and iterFiles: directories first in listings, all by code point",
    reads: true,
    files: emptyFiles("b a Z z/x B/x/y \uffee \u{1f600} a-b a.b"),
    ...steps([
      ["listDir", "", ["B", "z", "Z", "a", "a-b", "a.b", "b", "\uffee", "\u{1f600}"]],
      ["iterFiles", "", ["B/x/y", "Z", "a", "a-b", "a.b", "b", "z/x", "\uffee", "\u{1f600}"]],
      ["iterFiles", "B", ["B/x/y"]],
      ["firstFile", "", "B/x/y"],
    ]),
  },
  {
    name: "listDir: a thousand entries, each once",
    run: async ({ backend, at, root }) => {
      const names = Array.from({ length: 1000 }, (_, i) => `f${String(i).padStart(4, "0")}`);
      // Twenty at once: a thousand round trips one after the other would be slow on remote storage.
      for (const left = [...names].reverse(); left.length > 0; )
        await Promise.all(left.splice(0, 20).map((name) => backend.writeText(at(name), "")));
      const listed = (await backend.listDir(root)).map(({ name }) => name);
      assertEqual(listed, names, "the names");
    },
  },
  {
    name: "glob: one rule for all: no slash means any depth, and directories are no files",
    reads: true,
    files: emptyFiles("a.ts src/b.ts src/deep/c.ts src/d.js .h/e.ts d.ts/f"),
    ...steps([
      ["glob", "", ALL_DEPTHS, "*.ts"],
      ["glob", "", ALL_DEPTHS, "**/*.ts"],
      ["glob", "", ["src/b.ts"], "src/*.ts"],
      ["glob", "", ["src/b.ts", "src/d.js", "src/deep/c.ts"], "src/**"],
      ["glob", "", ["src/b.ts", "src/d.js"], "src/*.{ts,js}"],
      ["glob", "", ["a.ts", "src/b.ts"], "[ab].ts"],
      ["glob", "", ["src/d.js"], "?.js"],
      ["glob", "", [], "*.rs"],
      ["glob", "src", ["src/b.ts", "src/deep/c.ts"], "*.ts"],
    ]),
  },
];

/** The cases about writing. */
const writingCases: readonly ContractCase[] = [
  {
    name: "changes: each that cannot be has its code, and changes nothing",
    files: { "d/f": "1", g: "2", empty: "(empty)" },
    ...steps([
      ["writeText", "d", refused("IS_DIRECTORY"), "x"],
      ["writeText", "d/f/x", refused("NOT_DIRECTORY"), "x"],
      ["writeText", "no/such/f", refused("NOT_FOUND"), "x"],
      ["writeText", `${LONG_NAME}y ${"n".repeat(256)}/f`, refused("NAME_TOO_LONG"), "x"],
      ["writeText", "a\0b a\ud800b", refused("INVALID_ARGUMENT"), "x"],
      ["writeText", "new", refused("ENCODING_ERROR"), "a\ud800b"],
      ["writeBytes", "new", refused("CANCELLED"), "x", { signal: AbortSignal.abort() }],
      ["mkdir", "g", refused("ALREADY_EXISTS")],
      ["mkdir", "g/d/e", refused("NOT_DIRECTORY")],
      ["mkdir", "a/b", refused("NOT_FOUND"), { parents: false }],
      ["mkdir", "d", refused("ALREADY_EXISTS"), { existOk: false }],
      ["delete", "d", refused("NOT_EMPTY")],
      ["delete", "gone", refused("NOT_FOUND")],
      ["delete", "g/x", refused("NOT_DIRECTORY", "NOT_FOUND")],
      ["listDir iterFiles", "empty", []],
    ]),
  },
  {
    name: "changes: files are replaced as a whole, directories made with their parents, and both deleted",
    files: { g: "a longer first content", "d/f": "1" },
    ...steps(
      [
        ["writeText", "g", DONE, "short"],
        ["writeText", LONG_NAME, DONE, "x"],
        ["mkdir", "a/b/c a/b", DONE],
        ["mkdir", "a/e", DONE, { parents: false }],
        ["delete", "d/f d", DONE],
      ],
      { g: "short", [LONG_NAME]: "x", "a/b/c": "(empty)", "a/e": "(empty)" },
    ),
  },
  {
    name: "conditions: versions change with the content, and a write on another one is CONFLICT",
    files: { f: "one" },
    run: async (context) => {
      const { backend, at } = context;
      const read = async () => (await backend.read(at("f")))?.version;
      const seen = [await read()];
      for (const text of ["two", "three", "four!"]) {
        const options = { ifVersion: seen.at(-1) };
        const { version } = await backend.writeBytes(at("f"), new TextEncoder().encode(text), options);
        assertTrue(version !== undefined && !seen.includes(version), "a new version, never one of before");
        assertEqual(await read(), version, "the version of what was written");
        const refusals = [...seen, "no such version"].map(
          (ifVersion) => ["writeBytes", "f", refused("CONFLICT"), "x", { ifVersion }] as const,
        );
        const reads = [
          ["read", "f", text, { ifNoneMatch: seen[0] }],
          ["read", "f", null, { ifNoneMatch: version }],
        ] as const;
        await steps([...refusals, ...reads]).run(context);
        seen.push(version);
      }
      const isAtomic = backend.abilities.conditions;
      if (isAtomic) await assertOneWriter(context, { ifVersion: seen.at(-1) });
      await backend.delete(at("f"));
      await steps([["writeBytes", "f", NO_VERSION, "x", { ifVersion: seen.at(-1) }]], {}).run(context);
      if (isAtomic) await assertOneWriter(context, { ifAbsent: true });
    },
  },
  {
    name: "conditions: ifAbsent, and parents that are made only with the file",
    files: { f: "1", "d/g": "2" },
    ...steps(
      [
        ["writeBytes", "f d", refused("ALREADY_EXISTS"), "x", { ifAbsent: true }],
        ["writeBytes", "a/b/f", NO_VERSION, "x", { createDirs: true, ifVersion: "none" }],
        ["writeBytes", `a/${"n".repeat(256)}`, refused("NAME_TOO_LONG"), "x", { createDirs: true }],
        ["exists", "a", false],
        ["writeBytes", "new/b/f", DONE, "x", { createDirs: true, ifAbsent: true }],
      ],
      { f: "1", "d/g": "2", "new/b/f": "x" },
    ),
  },
  {
    name: "modes: given ones are set, others kept; a file without a write bit is neither written nor replaced",
    needs: ["modes"],
    files: { ro: "kept", s: "new", "d/x": "1", ...TWO_TREES },
    ...steps(
      [
        ["writeBytes", "new", DONE, "1", { mode: 0o640 }],
        ["writeText", "new", DONE, "2"],
        ["mode", "new", 0o640],
        ["chmod", "new", DONE, 0o755],
        ["writeText", "new", DONE, "3"],
        ["mode", "new", 0o755],
        ["copyFile", "new", DONE, "copy"],
        ["mode", "copy", 0o755],
        ["chmod", "d", DONE, 0o700],
        ["mode", "d", 0o700],
        ["readText", "d/x", "1"],
        ["chmod", "ro", DONE, 0o444],
        ["writeText", "ro", refused("PERMISSION_DENIED"), "x"],
        ["rename", "s", refused("PERMISSION_DENIED"), "ro", { overwrite: true }],
        ["chmod", "u/b", DONE, 0o444],
        ["copyTree", "t", refused("PERMISSION_DENIED"), "u", { overwrite: true }],
        ["readText", "u/a", "old"],
        ["readText", "ro", "kept"],
        ["delete", "ro", DONE],
      ],
      { s: "new", "d/x": "1", ...TWO_TREES, new: "3", copy: "3" },
    ),
  },
];

/** The cases about the eleven methods. */
export const methodCases: readonly ContractCase[] = [...readingCases, ...writingCases];

/** The case that is run on a read-only backend in place of those that change something. */
export const readOnlyCase: ContractCase = {
  name: "read-only: every change is READ_ONLY, and changes nothing",
  files: { f: "kept", "d/g": "1" },
  ...steps([
    ["writeText", "f", refused("READ_ONLY"), "x"],
    ["writeBytes", "new", refused("READ_ONLY"), new Uint8Array([1])],
    ["delete", "f", refused("READ_ONLY")],
    ["mkdir", "e", refused("READ_ONLY")],
  ]),
};
