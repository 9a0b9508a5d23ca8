import { describe, expect, it } from "vitest";
import { lazily } from "../../js/engine/lazy.ts";

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
});
