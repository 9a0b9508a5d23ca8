/** A removal whose entry another program takes away or replaces between its plan and its change. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";

/** A backend where another program acts once, right before a tree is removed or right after a directory was listed. */
class Disturbed extends MemoryBackend {
  beforeRemoval: (() => Promise<void>) | undefined;
  afterListing: (() => Promise<void>) | undefined;

  override async removeTree(...args: Parameters<MemoryBackend["removeTree"]>) {
    const disturb = this.beforeRemoval;
    this.beforeRemoval = undefined;
    await disturb?.();
    return super.removeTree(...args);
  }

  override async listDir(...args: Parameters<MemoryBackend["listDir"]>) {
    const found = await super.listDir(...args);
    const disturb = args[0] === "/w/out" ? this.afterListing : undefined;
    if (disturb !== undefined) this.afterListing = undefined;
    await disturb?.();
    return found;
  }
}

/** Without a history a removal needs to have been seen. */
const opened = async () => {
  const backend = new Disturbed({ "/w": { type: "dir" }, "/w/out": { type: "dir" } });
  return { backend, ws: await openWorkspace({ root: "/w", backend, guard: "refuse", history: false }) };
};

describe("a directory that another program removes first", () => {
  const lost = async (args: object) => {
    const { backend, ws } = await opened();
    backend.beforeRemoval = async () => {
      await backend.delete("/w/out");
    };
    await ws.call("list_directory", { path: "." });
    return ws.call("delete", { path: "out", recursive: true, ...args });
  };

  test("is removed already for a call that may find nothing", async () => {
    expect(await lost({ missing_ok: true })).toMatchObject({ ok: true, data: { files: 0, directories: 0 } });
  });

  test("is missing for any other", async () => {
    expect((await lost({})).error?.code).toBe("NOT_FOUND");
  });
});

test("a file that took the place of an empty directory is removed as a file", async () => {
  const { backend, ws } = await opened();
  await ws.call("list_directory", { path: "." });
  backend.afterListing = async () => {
    await backend.delete("/w/out");
    await backend.writeText("/w/out", "new\n");
  };
  const { data } = await ws.call("delete", { path: "out" });
  expect(data).toMatchObject({ files: 1, directories: 0 });
});
