/** Searches of the disk without the addon: the answers are those of the search of the addon. */
import type { Files } from "../../js/backends/files.ts";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NodeBackend } from "../../js/backends/node/node.node.ts";
import { setPinMode } from "../../js/backends/node/pinned.node.ts";
import { engine, setEngine } from "../../js/engine/current.ts";
import type { SearchQuery, SearchResult } from "../../js/engine/search.ts";
import { FilewrightError, LocalBackend, SandboxPolicy } from "../../js/index.node.ts";
import { describeParity, engines } from "../parity/engines.ts";

const code = (error: unknown) => (error instanceof FilewrightError ? error.code : String(error));

/** A result without the difference that a file whose content is a secret counts as unreadable without the addon alone. */
const comparable = ({ filesSearched, unreadable, ...rest }: SearchResult) => ({
  ...rest,
  seen: filesSearched + unreadable,
});

describeParity("searches of NodeBackend", () => {
  const before = engine();
  const folder = mkdtempSync(join(tmpdir(), "filewright-threads-"));
  const root = join(folder, "root");
  const key =
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA needle\n-----END OPENSSH PRIVATE KEY-----\n";
  const policy: SandboxPolicy = {
    ...SandboxPolicy.readOnly(root),
    deny: ["**/denied*", "**/closed/**"],
    protect: true,
    secrets: "grant",
  };
  const backend = new NodeBackend({ policy });
  const native = new LocalBackend({ policy, index: "off" });

  beforeAll(() => {
    setEngine(engines?.wasm as ReturnType<typeof engine>);
    const put = (path: string, content: string | Uint8Array) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    };
    for (let i = 0; i < 900; i++)
      put(
        `${i % 7}/${i % 3}/f${i}.txt`,
        `line ${i}\n${i % 10 === 3 ? "a needle here\r\n" : ""}last ${i}${i % 2 ? "\n" : ""}`,
      );
    put("2/bom.txt", "\ufeffneedle first\nsecond");
    put("2/utf16.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("needle wide\n", "utf16le")]));
    put("2/cr.txt", "first\nneedle\r");
    put("2/binary.bin", "needle\0needle\n");
    put("2/late.bin", `${"x needle\n".repeat(9000)}\0needle\n`);
    put("2/empty.txt", "");
    put("2/large.txt", "needle in a large file\n".repeat(20_000));
    // Files that are longer than what is read at once, and end around its end.
    const filler = "nothing to be found in this filler of a line\n".repeat(6000);
    put("4/last-line.txt", `${filler}the needle at last`);
    put("4/last-cr.txt", `${filler}the needle\r\nlast 7\r`);
    put("4/late-nul.txt", `${filler}\0needle\n`);
    put("4/binary.bin", `needle\0${filler}`);
    put("4/needle-before-nul.txt", `${filler}needle\n\0needle\n`);
    put("4/one-line.txt", `${"x ".repeat(200_000)}needle`);
    put("4/long-line.txt", `${filler}${"y ".repeat(200_000)}needle\nlast 8\n`);
    put("4/bom.txt", `\ufeff${filler}needle\n`);
    put("4/utf16.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`${filler}needle`, "utf16le")]));
    put("4/key.txt", `${key}${filler}`);
    for (let size = 262_140; size <= 262_148; size++)
      put(`4/block-${size}.txt`, `${filler.slice(0, size - 7)}${size % 2 ? "\n" : " "}needle`);
    put("2/secret-content.txt", key);
    put("2/id_rsa", `needle ${key}`);
    put("2/.env", "TOKEN=needle\n");
    put("2/denied.txt", "needle\n");
    put("closed/a.txt", "needle\n");
    put("3/.gitignore", "*.tmp\n");
    put("3/x.tmp", "needle\n");
    put("3/back\\x41.txt", "needle\n");
    writeFileSync(Buffer.concat([Buffer.from(join(root, "3/odd")), Buffer.from([0xe9])]), "needle\n");
    symlinkSync("bom.txt", join(root, "2/link.txt"));
    symlinkSync("/etc/passwd", join(root, "2/passwd"));
  });
  afterAll(() => {
    setEngine(before);
    backend.close();
    native.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const queries: readonly SearchQuery[] = [
    { pattern: "needle", regex: false },
    { pattern: "absent everywhere", regex: false },
    { pattern: "line", regex: false },
    { pattern: "NEEDLE", case: "insensitive" },
    { pattern: "needle$" },
    { pattern: "^needle" },
    { pattern: "\\Aneedle" },
    { pattern: "\\A.*line 1" },
    { pattern: "last \\d+\\z" },
    { pattern: "(?-m)^line" },
    { pattern: "needle." },
    { pattern: "^$" },
    { pattern: "x*" },
    { pattern: "here\\s+last", multiline: true },
    { patterns: ["needle", "last 1\\d$"] },
    { pattern: "needle", word: true, context: 2, output: "content" },
    { pattern: "needle", output: "files" },
    { pattern: "line", output: "count" },
    { pattern: "needle", maxPerFile: 2 },
    { pattern: "needle", maxFileBytes: 100_000 },
    { pattern: "needle", glob: "*.txt", exclude: ["**/2/**"] } as SearchQuery,
    { pattern: "needle", respectIgnore: false },
  ];

  it.each(queries.map((query) => [JSON.stringify(query), query] as const))("%s", async (_, query) => {
    const expected = await native.grep(root, query);
    expect(expected.filesSearched).toBeGreaterThan(300);
    expect(comparable(await backend.grep(root, query))).toEqual(comparable(expected));
    const mode = setPinMode("compare");
    try {
      expect(comparable(await backend.grep(root, query))).toEqual(comparable(expected));
    } finally {
      setPinMode(mode);
    }
  });

  it("gives the same pages, by number and by text", async () => {
    for (const limits of [
      { maxResults: 7 },
      { maxResults: 30, maxPerFile: 3 },
      { maxTextBytes: 700 },
      { maxResults: 5, output: "files" },
    ] as const) {
      let cursor: string | undefined;
      for (let page = 0; page < 6; page++) {
        const query = { pattern: "needle|last 5", ...limits, cursor };
        const expected = await native.grep(root, query);
        const found = await backend.grep(root, query);
        // How many files a search has seen at its end depends on how far it read ahead.
        const seen = { filesSearched: 0, unreadable: 0, skippedBinary: 0, ignored: 0 };
        expect({ ...found, ...seen }).toEqual({ ...expected, ...seen });
        if (expected.nextCursor === undefined) break;
        cursor = expected.nextCursor;
      }
    }
  });

  it("reads a secret once it is granted", async () => {
    const granted = [join(root, "2/id_rsa")];
    const query = { pattern: "needle", glob: "id_rsa" };
    const count = async (disk: Files) => (await disk.grep(root, { ...query, glob: undefined })).totalMatches;
    const without = await count(backend);
    backend.grantSecrets(granted);
    try {
      expect(await count(backend)).toBe(without + 2);
    } finally {
      backend.grantSecrets([]);
    }
    expect(await count(backend)).toBe(without);
  });

  it("is cancelled, ends at its time limit, and goes on with the next search", async () => {
    const controller = new AbortController();
    const search = backend.grep(root, { pattern: "needle", signal: controller.signal }).catch(code);
    setImmediate(() => controller.abort());
    expect(await search).toBe("CANCELLED");
    const limited = await backend.grep(root, { pattern: "needle", timeoutMs: 1 });
    expect(limited.incompleteReason ?? "complete").toMatch(/timeout|complete/);
    const files = async (disk: Files) =>
      (await disk.grep(root, { pattern: "needle", output: "files" })).filesWithMatches;
    expect(await files(backend)).toBe(await files(native));
  });
});
