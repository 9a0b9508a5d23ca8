/** Workspaces by the hundred that were opened and closed leave nothing behind. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isNight } from "../support/share.ts";

const script = fileURLToPath(new URL("open-close.mjs", import.meta.url));

/** How many are opened, of which the first 200 are the warm-up, and by how much memory may grow in the others. */
const [WORKSPACES, GROWTH_MIB] = isNight ? [1000, 24] : [400, 8];

interface Facts {
  readonly descriptors: number;
  readonly threads: number;
  readonly rss: number;
}

it.runIf(process.platform === "linux")(
  `${WORKSPACES} workspaces leave descriptors, threads and memory flat when they are closed`,
  () => {
    const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-close-")));
    try {
      const command = `ulimit -n 256; exec "$0" "$@"`;
      // A small heap, because otherwise its growth is what V8 has not collected yet, and not what is held.
      const heap = ["--max-semi-space-size=1", "--max-old-space-size=64"];
      const args = ["-c", command, process.execPath, ...heap, script, base, `${WORKSPACES}`];
      const lines = execFileSync("sh", args, { encoding: "utf8" }).trim().split("\n");
      const [first, last] = lines.map((line) => JSON.parse(line) as Facts) as [Facts, Facts];
      // Threads end a moment after they were told to.
      expect(last.descriptors).toBeLessThanOrEqual(first.descriptors + 8);
      expect(last.threads).toBeLessThanOrEqual(first.threads + 8);
      expect(last.rss - first.rss).toBeLessThan(GROWTH_MIB * 1024 * 1024);
    } finally {
      fs.rmSync(base, { recursive: true, force: true });
    }
  },
  300_000,
);
