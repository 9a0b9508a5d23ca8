/** Copies whose processes end, and processes that have copies of the same storage at once. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { memoryStorage, type Storage } from "../../../js/storage/index.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { FILES, makeStorage } from "./child.mjs";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { copies, countFiles, grep, open, untilWarm } from "./support.ts";

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));

function startChild(stateDir: string): ChildProcess {
  const child = spawn(process.execPath, [CHILD, "run", stateDir], { stdio: ["ignore", "pipe", "inherit"] });
  afterThisTest(() => child.kill("SIGKILL"));
  return child;
}

/** Waits for a line of a child that a function accepts. */
function lineOf(child: ChildProcess, accepts: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let rest = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop() ?? "";
      const found = lines.find(accepts);
      if (found !== undefined) resolve(found);
    });
    child.on("exit", () => reject(new Error("the child has ended")));
  });
}

describe("a mirror whose process ends", () => {
  it("is complete again after kill -9 at any time of its filling", async () => {
    const stateDir = temporaryDirectory();
    for (const least of [1, 300, 900, 1400]) {
      const child = startChild(stateDir);
      const ended = once(child, "exit");
      while (countFiles(join(stateDir, "mirrors")) < least)
        await new Promise((resolve) => setTimeout(resolve, 2));
      child.kill("SIGKILL");
      await ended;
    }
    const storage = (await makeStorage(memoryStorage)) as Storage;
    const ws = await open({ storage, stateDir });
    expect((await grep(ws, "needle")).total_matches).toBe(FILES);
    await untilWarm(ws);
    expect((await grep(ws, "needle")).total_matches).toBe(FILES);
    expect(copies(stateDir).length).toBe(1);
    const files = join(stateDir, "mirrors", copies(stateDir)[0] as string, "files");
    const { entries } = await storage.list({ limit: 10_000 });
    const { results } = await storage.readMany(entries.map(({ path }) => path));
    for (const [index, { path, type }] of entries.entries()) {
      const found = results[index];
      if (type === "file" && found !== null && found !== undefined && "entry" in found)
        expect(readFileSync(join(files, path)).equals(found.body ?? new Uint8Array(0))).toBe(true);
    }
    expect(countFiles(files)).toBe(FILES);
  }, 120_000);

  it("leaves its place to another process while it runs, and takes it again afterwards", async () => {
    const stateDir = temporaryDirectory();
    const child = startChild(stateDir);
    expect(await lineOf(child, (line) => !line.startsWith("scan"))).toBe(`watch ${FILES}`);
    const storage = (await makeStorage(memoryStorage)) as Storage;
    const second = await open({ storage, stateDir });
    await untilWarm(second);
    expect(copies(stateDir).length).toBe(2);
    await second.close();
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    const again = (await makeStorage(memoryStorage)) as Storage;
    const third = await open({ storage: again, stateDir });
    await untilWarm(third);
    expect(copies(stateDir).length).toBe(2);
  }, 120_000);
});
