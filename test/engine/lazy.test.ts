import { describe, expect, it } from "vitest";
import { FilewrightError, FsPermissionError } from "../../js/engine/errors.ts";
import { lazily, lazilyEarly, loadEarly } from "../../js/engine/lazy.ts";

describe("a part that is loaded on first use", () => {
  it("is loaded once", async () => {
    let loads = 0;
    const part = lazily("tests", async () => ({ loads: ++loads }));
    expect(loads).toBe(0);
    expect(await Promise.all([part(), part()])).toEqual([{ loads: 1 }, { loads: 1 }]);
    expect(await part()).toEqual({ loads: 1 });
  });

  it("is an error with a code where its file is missing, and is tried again", async () => {
    let isThere = false;
    const part = lazily("tests", async () => {
      if (!isThere) throw new Error("Cannot find module '/app/node_modules/filewright/dist/part.js'");
      return { works: true };
    });
    const failed = await part().catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: "IO_ERROR",
      message: expect.stringContaining("could not load its part for tests"),
      hint: "install filewright again, then restart the process",
    });
    expect((failed as Error).message).not.toContain("/app");
    isThere = true;
    expect(await part()).toEqual({ works: true });
  });

  it("names the limit of open files where that is the reason", async () => {
    const part = lazily("tests", () => Promise.reject(Object.assign(new Error("open"), { code: "EMFILE" })));
    expect(await part().catch((error: unknown) => error)).toMatchObject({
      code: "IO_ERROR",
      message: "Filewright could not load its part for tests: no more files can be opened",
      hint: "raise the limit of open files (ulimit -n), then restart the process",
      details: { part: "tests" },
    });
  });

  it("is loaded before its first use, if most workspaces need it; its use reports a failure", async () => {
    const loaded: string[] = [];
    const good = lazilyEarly("tests", async () => ({ at: loaded.push("good") }));
    const bad = lazilyEarly("tests", () => Promise.reject(new Error("gone")));
    await loadEarly();
    expect(loaded).toEqual(["good"]);
    expect(await good()).toEqual({ at: 1 });
    await expect(bad()).rejects.toMatchObject({ code: "IO_ERROR" });
  });
});

describe("an error of another copy of the package", () => {
  /** The class of errors of a copy, as far as errors are recognised. */
  class OtherError extends Error {
    readonly code = "CONFLICT";
    readonly hint = undefined;
    readonly complete = false;
  }

  it("is one of ours, but none of a narrower kind", () => {
    const other: unknown = new OtherError("changed");
    expect([other instanceof FilewrightError, other instanceof FsPermissionError]).toEqual([true, false]);
  });

  it("is told from any other error", () => {
    const own = new FsPermissionError("PERMISSION_DENIED", "no");
    expect([own instanceof FilewrightError, own instanceof FsPermissionError]).toEqual([true, true]);
    for (const none of [new Error("CONFLICT"), { code: "CONFLICT" }, null, undefined, "CONFLICT"])
      expect((none as unknown) instanceof FilewrightError).toBe(false);
  });
});
