/**
 * The acceptance kit on a backend in memory. The WebAssembly engine in Node and in Chromium, and a storage in memory, must
 * give the results and the words of the native engine, which therefore runs first.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { share } from "../support/share.ts";
import { bundled } from "./bundle.ts";
import { chromiumArgs, chromiumPath, describeChromium } from "./chromium.ts";
import { serve } from "./server.ts";

const root = resolve(import.meta.dirname, "../..");
/** Holds the results of the native engine, which those of the others are compared with. */
const scratch = mkdtempSync(join(tmpdir(), "filewright-memory-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const CASES = readFileSync(`${root}/test/acceptance/public.jsonl`, "utf8").trim().split("\n");
const IDS = CASES.map((line) => (JSON.parse(line) as { readonly id: string }).id);

/**
 * The cases for each engine. By day WebAssembly in Node, the storage and Chromium run a twelfth each, and native those of
 * the three, with which they are compared. All run natively on a disk (test/acceptance/run.mjs).
 */
const IDS_BY_ENGINE: Readonly<Record<string, readonly string[]>> = {
  native: IDS.filter((id) => [0, 1, 2].some((part) => share(IDS, 12, part).includes(id))),
  wasm: share(IDS, 12, 0),
  storage: share(IDS, 12, 1),
  chromium: share(IDS, 12, 2),
};

/** Runs the kit on an engine; what it printed. */
function run(engine: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((done, fail) => {
    const args = [`${root}/test/acceptance/memory.mjs`, engine, scratch, `${IDS_BY_ENGINE[engine]}`];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (part: Buffer) => {
      said += part.toString();
    });
    child.on("error", fail);
    child.on("close", () => done(said));
  });
}

/** Expects that every case was counted, as run or as inapplicable, and that none was wrong. */
function expectRight(engine: string, said: string): void {
  const form = new RegExp(`^${engine}: (\\d+) cases, \\d{2,} answers, (\\d+) inapplicable, 0 wrong\\n$`, "u");
  expect(said).toMatch(form);
  const [, cases, inapplicable] = form.exec(said) ?? [];
  expect(Number(cases) + Number(inapplicable)).toBe(IDS_BY_ENGINE[engine]?.length);
}

describeChromium("the acceptance kit in memory", () => {
  it.each(["native", "wasm", "storage"])("passes on %s", { timeout: 300_000 }, async (engine) => {
    expectRight(engine, await run(engine));
  });

  it("passes on WebAssembly in Chromium", { timeout: 300_000 }, async () => {
    const args = { executablePath: chromiumPath(), args: chromiumArgs() };
    const [server, served] = await Promise.all([
      chromium.launchServer(args),
      bundled("acceptance").then(serve),
    ]);
    try {
      const env = {
        FILEWRIGHT_BROWSER: server.wsEndpoint(),
        FILEWRIGHT_PAGE: `${served.url}/acceptance.html`,
      };
      expectRight("chromium", await run("chromium", env));
    } finally {
      await served.close();
      await server.close();
    }
  });
});
