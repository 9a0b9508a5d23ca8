/** Large binary files: searches and the index know them by their first bytes, and read no more of them. */
import { assembledFiles } from "../../js/backends/complete.ts";
import type { Files } from "../../js/backends/files.ts";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { NodeBackend } from "../../js/backends/node/node.node.ts";
import { LocalBackend, MemoryBackend, SandboxPolicy } from "../../js/index.node.ts";

const folder = mkdtempSync(join(tmpdir(), "filewright-head-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KIB = 1024;
const text = (bytes: number): Buffer =>
  Buffer.from("a plain line with a needle\n".repeat(1 + bytes / 27)).subarray(0, bytes);
const withNul = (bytes: number, at: number): Buffer => {
  const content = Buffer.from(text(bytes));
  content[at] = 0;
  return content;
};
const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Files around the limit of 64 KiB, in which a NUL makes a file binary. The columns: name, content, kind. */
const FILES: readonly (readonly [string, Buffer, "text" | "binary"])[] = [
  ["nul-first", withNul(900 * KIB, 0), "binary"],
  ["nul-last-of-head", withNul(900 * KIB, 64 * KIB - 1), "binary"],
  ["nul-after-head", withNul(900 * KIB, 64 * KIB), "text"],
  ["nul-late", withNul(900 * KIB, 500 * KIB), "text"],
  ["nul-at-end", withNul(900 * KIB, 900 * KIB - 1), "text"],
  ["head-exactly", withNul(64 * KIB, 64 * KIB - 1), "binary"],
  ["head-and-one", withNul(64 * KIB + 1, 64 * KIB - 1), "binary"],
  ["nul-behind-head", withNul(64 * KIB + 1, 64 * KIB), "text"],
  ["small", withNul(40, 9), "binary"],
  ["marked", Buffer.concat([utf8Mark, withNul(900 * KIB, 64 * KIB - 1)]), "binary"],
  ["marked-late", Buffer.concat([utf8Mark, withNul(900 * KIB, 64 * KIB)]), "text"],
  ["utf16", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`${text(300 * KIB)}`, "utf16le")]), "text"],
  [
    "utf16-nul",
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`a\0${text(300 * KIB)}`, "utf16le")]),
    "binary",
  ],
  ["text", text(900 * KIB), "text"],
];

const binaries = FILES.filter(([, , kind]) => kind === "binary").length;

describe("files with a NUL", () => {
  const root = join(folder, "kinds");
  mkdirSync(root);
  for (const [name, content] of FILES) writeFileSync(join(root, name), content);
  const policy = SandboxPolicy.readOnly(root);

  it.each([
    ["the native search", () => new LocalBackend({ policy, index: "off" })],
    ["the index", () => new LocalBackend({ policy, index: "strict" })],
    ["NodeBackend", () => new NodeBackend({ policy })],
  ] as const)("are binary for %s as their first 64 KiB say", async (_, open) => {
    const disk = open();
    try {
      if (disk instanceof LocalBackend) await disk.warm(root);
      const found = await disk.grep(root, { pattern: "needle", output: "files" });
      const { skippedBinary, filesSearched, counts } = found;
      expect({ skippedBinary, filesSearched }).toEqual({
        skippedBinary: binaries,
        filesSearched: FILES.length - binaries,
      });
      expect(counts.map(({ path }) => path)).toEqual(
        FILES.filter(([, , kind]) => kind === "text")
          .map(([name]) => name)
          .sort(),
      );
      for (const [name, , kind] of FILES) {
        const one = await disk.grep(join(root, name), { pattern: "needle", output: "count" });
        expect([name, one.skippedBinary]).toEqual([name, kind === "binary" ? 1 : 0]);
      }
    } finally {
      disk.close();
    }
  });
});

describe("a search", () => {
  const BINARY_BYTES = 24 << 20;
  const MAX_READ_BYTES = 3 << 20;
  const root = join(folder, "large");
  mkdirSync(root);
  const content = Buffer.alloc(BINARY_BYTES, "needle\n");
  content[60_000] = 0;
  for (let index = 0; index < 200; index++) writeFileSync(join(root, `f${index}.txt`), "a needle\n");
  for (const name of ["a.wasm", "z.node"]) writeFileSync(join(root, name), content);
  const policy = SandboxPolicy.readOnly(root);

  /** The bytes that this process has read by system calls. */
  const readBytes = (): number => Number(/^rchar: (\d+)$/mu.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

  const rows: readonly (readonly [string, () => LocalBackend | NodeBackend, string])[] = [
    ["without an index", () => new LocalBackend({ policy, index: "off" }), root],
    ["that builds an index", () => new LocalBackend({ policy, index: "strict" }), root],
    ["of one file", () => new LocalBackend({ policy, index: "off" }), join(root, "a.wasm")],
    ["without the addon", () => new NodeBackend({ policy }), root],
    ["of one file without the addon", () => new NodeBackend({ policy }), join(root, "a.wasm")],
  ];
  it.runIf(process.platform === "linux").each(rows)(
    "%s reads the head of a large binary file alone",
    async (_, open, where) => {
      const disk = open();
      try {
        const query = { pattern: "needle", output: "count" } as const;
        // The first search loads what a search needs.
        await disk.grep(join(root, "f0.txt"), query);
        const before = readBytes();
        if (disk instanceof LocalBackend && where === root) await disk.warm(root);
        const found = await disk.grep(where, query);
        expect(found.skippedBinary).toBe(where === root ? 2 : 1);
        expect(readBytes() - before).toBeLessThan(MAX_READ_BYTES);
      } finally {
        disk.close();
      }
    },
  );

  it("of any storage reads the head of a large binary file alone", async () => {
    const memory = new MemoryBackend({ "/w/a.bin": content, "/w/b.txt": text(900 * KIB) });
    let bytes = 0;
    const counted = <T extends Uint8Array>(given: T): T => {
      bytes += given.length;
      return given;
    };
    const methods: Partial<Files> = {
      stat: memory.stat.bind(memory),
      exists: memory.exists.bind(memory),
      listDir: memory.listDir.bind(memory),
      readBytes: async (path: string) => counted(await memory.readBytes(path)),
      read: async (path: string, options = {}) => {
        const found = await memory.read(path, options);
        if (found !== null) counted(found.bytes);
        return found;
      },
    };
    const storage = assembledFiles(methods, { ranges: true });
    const found = await storage.grep("/w", { pattern: "needle", output: "files" });
    expect(found).toMatchObject({ skippedBinary: 1, filesWithMatches: 1 });
    expect(bytes).toBeLessThan(2 << 20);
  });
});
