/** The audit file and its verification: every change of a written line is noticed, and `filewright audit` says where. */
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AuditLine,
  auditFile,
  MemoryBackend,
  openWorkspace,
  verifyAuditFile,
} from "../../js/index.node.ts";

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "filewright-audit-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the path of a log that does not exist yet. */
function newPath(): string {
  count += 1;
  return join(folder, `audit-${count}.jsonl`);
}

/** Appends a chain of calls to a log. */
async function log(path: string, calls: number): Promise<void> {
  const backend = new MemoryBackend({ "/w/a": "one\n" });
  const ws = await openWorkspace({ backend, root: "/w", observers: [await auditFile(path)] });
  for (let call = 0; call < calls; call += 1) await ws.call("stat", { path: call % 2 === 0 ? "a" : "ä\n" });
  await ws.close();
}

const linesOf = async (path: string): Promise<string[]> =>
  (await readFile(path, "utf8")).trimEnd().split("\n");

describe("the chain of an audit file", () => {
  test("each opening writes a chain that begins at the last line before it", async () => {
    const path = newPath();
    await log(path, 3);
    await log(path, 2);
    const lines = (await linesOf(path)).map((line) => JSON.parse(line) as AuditLine);
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 1, 2]);
    expect(new Set(lines.map(({ chain }) => chain)).size).toBe(2);
    expect(lines[0]?.prev).toBeNull();
    const verification = await verifyAuditFile(path);
    expect(verification).toMatchObject({ ok: true, records: 5, chains: 2, problems: [], problem_count: 0 });
    expect(verification.head).toMatch(/^sha256:[0-9a-f]{64}$/u);
    await log(path, 1);
    expect(await verifyAuditFile(path, { head: verification.head as string })).toMatchObject({ ok: true });
  });

  test("an empty file is an unbroken log without a head", async () => {
    const path = newPath();
    await log(path, 0);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, records: 0, chains: 0, head: null });
  });

  test("every line that is changed, removed, doubled, moved or inserted is noticed", async () => {
    const path = newPath();
    for (const calls of [4, 1, 5]) await log(path, calls);
    const lines = await linesOf(path);
    const { head } = await verifyAuditFile(path);
    const at = fc.nat({ max: lines.length - 1 });
    const changes: fc.Arbitrary<readonly string[]> = fc.oneof(
      at.map((line) => lines.with(line, String(lines[line]).replace('"stat"', '"read_file"'))),
      at.map((line) => lines.toSpliced(line, 1)),
      at.map((line) => lines.toSpliced(line, 0, String(lines[line]))),
      fc
        .tuple(at, at)
        .filter(([a, b]) => a !== b)
        .map(([a, b]) => lines.with(a, String(lines[b])).with(b, String(lines[a]))),
      at.map((line) => lines.toSpliced(line, 0, '{"tool":"stat"}')),
      at.map((line) => lines.slice(0, line)),
    );
    const changed = newPath();
    await fc.assert(
      fc.asyncProperty(changes, async (text) => {
        await writeFile(changed, text.map((line) => `${line}\n`).join(""));
        const verification = await verifyAuditFile(changed, { head: head as string });
        expect(verification.ok).toBe(false);
        expect(verification.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  test("only a head that was kept elsewhere notices that the last lines are gone", async () => {
    const path = newPath();
    await log(path, 3);
    const { head } = await verifyAuditFile(path);
    await writeFile(path, `${(await linesOf(path)).slice(0, 2).join("\n")}\n`);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, records: 2 });
    const { ok, problems } = await verifyAuditFile(path, { head: head as string });
    expect(ok).toBe(false);
    expect(problems).toEqual([
      { line: 0, reason: `has no line with the hash ${head}: lines were removed or changed` },
    ]);
  });

  test("a line that was cut off is reported, and the next chain begins on a line of its own", async () => {
    const path = newPath();
    await log(path, 2);
    await appendFile(path, '{"at":"2026');
    expect((await verifyAuditFile(path)).problems).toEqual([
      { line: 3, reason: "was cut off while it was written" },
    ]);
    await log(path, 2);
    expect(await linesOf(path)).toHaveLength(5);
    expect((await verifyAuditFile(path)).problems).toEqual([
      { line: 3, reason: "is not a record of an audit log" },
    ]);
  });

  test("an extract has chains without their first records", async () => {
    const path = newPath();
    await log(path, 4);
    const lines = await linesOf(path);
    await writeFile(path, `${lines.slice(2).join("\n")}\n`);
    expect((await verifyAuditFile(path)).problems[0]?.reason).toMatch(/the records before it are missing/u);
    expect(await verifyAuditFile(path, { extract: true })).toMatchObject({ ok: true, records: 2 });
    await writeFile(path, `${[lines[1], lines[3]].join("\n")}\n`);
    expect(await verifyAuditFile(path, { extract: true })).toMatchObject({ ok: false });
  });

  test("a repeated record is one problem", async () => {
    const path = newPath();
    await log(path, 4);
    const lines = await linesOf(path);
    await writeFile(path, `${lines.toSpliced(3, 0, String(lines[1])).join("\n")}\n`);
    expect((await verifyAuditFile(path)).problem_count).toBe(1);
  });

  test("several writers of one file keep their chains apart", async () => {
    const path = newPath();
    await Promise.all(Array.from({ length: 4 }, () => log(path, 25)));
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, records: 100, chains: 4 });
  });

  test("lines longer than a block are found at the end of a file", async () => {
    const path = newPath();
    const observer = await auditFile(path);
    const paths = Array.from({ length: 3000 }, (_, n) => `/w/${"x".repeat(60)}${n}`);
    for (let line = 0; line < 3; line += 1)
      observer.end?.({
        ...{ id: "1", tool: "read_many_files", at: 0, ok: true, duration_ms: 1, paths, changes: false },
        ...{ text_chars: 0, truncated: false },
      });
    await observer.close?.();
    await log(path, 2);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, records: 5, chains: 2 });
  });

  test("bad options and missing files are errors", async () => {
    await expect(verifyAuditFile(newPath())).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(verifyAuditFile(folder)).rejects.toMatchObject({ code: "IO_ERROR" });
    await expect(verifyAuditFile(newPath(), { haed: "x" } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("head"),
    });
    await expect(verifyAuditFile(newPath(), { head: "sha256:1" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("filewright audit verify", () => {
  const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [main, "audit", ...args], { cwd: folder }).then(
      ({ stdout, stderr }) => ({ status: 0, out: stdout, err: stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        ...{ status: code, out: stdout, err: stderr },
      }),
    );

  test("reports an unbroken log and its head, and the lines of a broken one", async () => {
    const path = newPath();
    await log(path, 3);
    const { head } = await verifyAuditFile(path);
    const good = await run("verify", path);
    expect(good).toEqual({
      status: 0,
      out: `${path}: 3 records in 1 chain, unbroken\nhead ${head}\n`,
      err: "",
    });
    const lines = await linesOf(path);
    await writeFile(path, `${[lines[0], lines[2]].join("\n")}\n`);
    const broken = await run("verify", path);
    expect(broken.status).toBe(1);
    expect(broken.err).toMatch(/:2: is record 3 of chain [0-9a-f]{16}, and the one before it is record 1\n/u);
    const json = await run("verify", path, "--json");
    expect(json.status).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, records: 2, problem_count: 1 });
    expect((await run("verfy", path)).status).toBe(2);
    expect((await run("verify", join(folder, "missing"))).status).toBe(2);
    expect((await run("verify", path, "--head", "abc")).err).toMatch(/sha256: and 64 hexadecimal digits/u);
  });
});
