/** The addon in worker threads alone: Node unloads it with the last of them, and the next thread loads it again. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { expect, test } from "vitest";

test("the process survives that the addon is unloaded and loaded again", () => {
  const { status, signal, stdout, stderr } = spawnSync(
    execPath,
    [join(import.meta.dirname, "unloading.mjs")],
    {
      encoding: "utf8",
      env: { ...env, FILEWRIGHT_ENGINE: "native" },
    },
  );
  const found = { status, signal, stdout, stderr };
  expect(found).toEqual({ status: 0, signal: null, stdout: "all ended\n", stderr: "" });
});
