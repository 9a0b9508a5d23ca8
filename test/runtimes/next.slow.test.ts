/**
 * An application of Next.js whose route handler uses the local disk. It runs when a release is rehearsed
 * (scripts/release/try-bundlers.mjs), because each build takes most of a minute.
 */
import { spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, it } from "vitest";
import { installed } from "../package/installed.ts";
import { guideFile } from "./guide.ts";
import { platformPackage, run, SERVED, unpackPackages } from "./prepare.ts";

const app = resolve(import.meta.dirname, "../../.cache/next");
const next = join(app, "node_modules/next/dist/bin/next");
const ENVIRONMENT = { NEXT_TELEMETRY_DISABLED: "1", FILEWRIGHT_ENGINE: "native" };
const GUIDE = guideFile("next.config.mjs");

describe.skipIf(process.env["FILEWRIGHT_REHEARSAL"] !== "1")("Next.js", () => {
  beforeAll(() => {
    expect(installed(join(import.meta.dirname, "next/package.json"), app)).toBeUndefined();
    unpackPackages(join(app, "node_modules"));
    cpSync(join(import.meta.dirname, "next/app"), join(app, "app"), { recursive: true });
    cpSync(join(import.meta.dirname, "scene/steps.mjs"), join(app, "steps.mjs"));
  }, 300_000);

  const CASES = ["--turbopack", "--webpack"].flatMap((builder) => [
    { builder, settings: "none", config: "export default {};" },
    { builder, settings: "of the guide", config: GUIDE },
  ]);

  it.for(CASES)("$builder, settings $settings", { timeout: 300_000 }, async ({ builder, config }) => {
    writeFileSync(join(app, "next.config.mjs"), config);
    rmSync(join(app, ".next"), { recursive: true, force: true });
    const built = run(process.execPath, [next, "build", app, builder], ENVIRONMENT, app);
    expect(built.status, built.stdout + built.stderr).toBe(0);
    expect(await answer()).toEqual(SERVED);
    if (config !== GUIDE) return;
    const traced = readFileSync(join(app, ".next/server/app/disk/route.js.nft.json"), "utf8");
    expect(traced).toContain(`/node_modules/${platformPackage}/filewright.`);
    expect(traced).toContain("/node_modules/filewright/dist/wasm/filewright_bg.wasm");
  });
});

/** Starts the built application and returns its answer to one request. */
async function answer(): Promise<unknown> {
  const server = spawn(process.execPath, [next, "start", app, "--port", "0", "--hostname", "127.0.0.1"], {
    cwd: app,
    env: { PATH: process.env["PATH"], HOME: join(app, "home"), NO_COLOR: "1", ...ENVIRONMENT },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const address = /http:\/\/127\.0\.0\.1:\d+/u.exec(line)?.[0];
      if (address !== undefined) return await (await fetch(`${address}/disk`)).json();
    }
    throw new Error("next start ended without an address");
  } finally {
    server.kill("SIGKILL");
  }
}
