/** Writers that are killed: every file is whole, and the next writer sweeps up after them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LocalBackend } from "../../js/index.node.ts";
import { ADDON } from "../support/addon.ts";

let base: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-kill-")));
});
afterEach(() => {
  fs.rmSync(base, { recursive: true, force: true });
});

const SIZE = 1_000_000;

/** A process that rewrites, appends and copies until it is killed. */
function writer(durability: number): ReturnType<typeof spawn> {
  const script = `
    const { CancelToken, NativeRoots } = require(${JSON.stringify(ADDON)});
    const base = ${JSON.stringify(base)};
    const roots = new NativeRoots(JSON.stringify({ cwd: base, read: [base], write: [base] }));
    const write = (name, bytes, ifVersion, flags) =>
      roots.writeBytes(base + name, bytes, ifVersion, flags, -1, ${durability}, undefined, new CancelToken());
    console.log("started");
    (async () => {
      for (let n = 0; ; n++) {
        const letter = "abcdefgh"[n % 8];
        await write("/f", Buffer.alloc(${SIZE}, letter), undefined, 0);
        const { text } = await roots.stat(base + "/f", true);
        await write("/f", Buffer.alloc(${SIZE}, letter.toUpperCase()), text, 0);
        await write("/log", Buffer.from("line of the log\\n"), undefined, 4);
      }
    })();`;
  return spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
}

for (const durability of [0, 1]) {
  it(`kill -9 at any moment, durability ${durability}: whole files, no litter`, async () => {
    let litter = 0;
    // Further rounds until one kill met a writer in the act: without any, the test would prove nothing.
    for (let round = 0; round < 12 || (litter === 0 && round < 200); round++) {
      const child = writer(durability);
      await once(child.stdout as NodeJS.ReadableStream, "data");
      await sleep(5 + Math.random() * 60);
      child.kill("SIGKILL");
      await once(child, "exit");
      if (!fs.existsSync(join(base, "f"))) continue;
      const content = fs.readFileSync(join(base, "f"));
      expect(content.length).toBe(SIZE);
      expect(content.equals(Buffer.alloc(SIZE, content[0]))).toBe(true);
      if (fs.existsSync(join(base, "log"))) {
        expect(fs.readFileSync(join(base, "log"), "utf8")).toMatch(/^(line of the log\n)*$/);
      }
      litter += fs.readdirSync(base).filter((name) => name.startsWith(".filewright-")).length;
      await new LocalBackend().writeText(join(base, "next"), "x");
      expect(fs.readdirSync(base).filter((name) => !["f", "log", "next"].includes(name))).toEqual([]);
    }
    expect(litter).toBeGreaterThan(0);
  });
}
