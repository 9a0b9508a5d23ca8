/** The option `mirror`: what it takes, and what it refuses before anything is opened. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { MemoryBackend } from "../../../js/backends/index.ts";
import { memoryStorage } from "../../../js/storage/index.ts";
import { openWorkspace } from "../../../js/workspace/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";

describe("the option mirror", () => {
  it("is refused where it has no effect or no place, and where a key or a value is misspelt", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "fw-mirror-"));
    afterThisTest(() => rmSync(stateDir, { recursive: true, force: true }));
    const storage = memoryStorage();
    const refused = async (options: object): Promise<string> => {
      const error: unknown = await openWorkspace({ root: "/ws", ...options }).then(
        () => "opened",
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
      return (error as Error).message;
    };
    expect(await refused({ storage, mirror: {} })).toContain("stateDir");
    expect(await refused({ backend: new MemoryBackend(), mirror: false })).toContain("storage");
    expect(await refused({ storage, stateDir, mirror: true })).toContain("mirror");
    expect(await refused({ storage, stateDir, mirror: { maxByte: 1 } })).toContain("maxBytes");
    expect(await refused({ storage, stateDir, mirror: { maxBytes: 0 } })).toContain("maxBytes");
    expect(await refused({ storage, stateDir, mirror: { freshness: { maxAge: 1 } } })).toContain("maxAgeMs");
    expect(await refused({ storage, stateDir, mirror: { freshness: 5 } })).toContain("freshness");
  });

  it("makes no copy where it is false, and none without a stateDir", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "fw-mirror-"));
    afterThisTest(() => rmSync(stateDir, { recursive: true, force: true }));
    const storage = memoryStorage();
    for (const options of [{ stateDir, mirror: false } as const, {}]) {
      const ws = await openWorkspace({ storage, root: "/ws", ...options });
      expect(await ws.call("grep", { pattern: "x" })).toMatchObject({ ok: true, data: { fresh: "scan" } });
      await ws.close();
    }
    expect(existsSync(join(stateDir, "mirrors"))).toBe(false);
  });
});
