/** Large files. */
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";

const MIB = 1024 * 1024;

test("pages and searches of a 100 MB file take a little memory", async () => {
  const base = await mkdtemp(join(tmpdir(), "filewright-large-"));
  const root = join(base, "ws");
  await mkdir(root);
  try {
    const file = await open(join(root, "large.log"), "w");
    const line = `${"x".repeat(99)}\n`;
    const block = Buffer.from(line.repeat(10_000));
    for (let at = 0; at < 100; at++) await file.write(block);
    await file.write("the needle\n");
    await file.close();
    await using ws = await openWorkspace({
      root,
      stateDir: join(base, "state"),
    });
    const before = process.memoryUsage().rss;
    const first = await ws.readFile({ path: "large.log", max_lines: 3 });
    expect([first.content, first.next_start_line, first.hash]).toEqual([line.repeat(3), 4, null]);
    const middle = await ws.readFile({ path: "large.log", start_line: 900_000, max_lines: 2 });
    expect([middle.start_line, middle.end_line]).toEqual([900_000, 900_001]);
    const last = await ws.readFile({ path: "large.log", start_line: -1 });
    expect(last.content).toBe("the needle\n");
    const { matches } = await ws.grep({ pattern: "needle" });
    expect(matches).toMatchObject([{ path: "large.log", line: 1_000_001 }]);
    expect(process.memoryUsage().rss - before).toBeLessThan(60 * MIB);
  } finally {
    await rm(base, { recursive: true });
  }
});
