/** Every method of a closed disk without the addon is refused. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NodeBackend } from "../../js/backends/index.node.ts";

test("every method of a closed disk fails with UNSUPPORTED_OPERATION", async () => {
  const base = mkdtempSync(join(tmpdir(), "filewright-closed-"));
  try {
    const file = join(base, "a.txt");
    writeFileSync(file, "one\n");
    const disk = new NodeBackend();
    const all = async (names: AsyncIterable<string>): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const name of names) found.push(name);
      return found;
    };
    const calls: Readonly<Record<string, () => unknown>> = {
      stat: () => disk.stat(file),
      readText: () => disk.readText(file),
      readBytes: () => disk.readBytes(file),
      read: () => disk.read(file),
      hash: () => disk.hash(file),
      readLines: () => disk.readLines(file),
      writeText: () => disk.writeText(file, "two\n"),
      listDir: () => disk.listDir(base),
      listPage: () => disk.listPage(base, { limit: 10 }),
      iterFiles: () => all(disk.iterFiles(base)),
      glob: () => disk.glob("**", { root: base }),
      delete: () => disk.delete(file),
    };
    await disk.close();
    for (const [name, call] of Object.entries(calls))
      await expect((async () => call())(), name).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
