/** A move to another letter case, where that name is a second hard link of the same file: it is no respelling. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { LocalBackend, NodeBackend } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

describe.skipIf(process.platform !== "linux").each([
  ["LocalBackend", () => new LocalBackend()],
  ["NodeBackend", () => new NodeBackend()],
] as const)("%s", (_, make) => {
  test.each([false, true])("it is refused, and both names stay (overwrite: %s)", async (overwrite) => {
    const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-respelling-")));
    afterThisTest(() => fs.rmSync(root, { recursive: true, force: true }));
    fs.writeFileSync(join(root, "name"), "one\n");
    fs.linkSync(join(root, "name"), join(root, "NAME"));
    await expect(make().rename(join(root, "name"), join(root, "NAME"), { overwrite })).rejects.toMatchObject({
      code: overwrite ? "SAME_FILE" : "ALREADY_EXISTS",
    });
    expect(fs.readdirSync(root).sort()).toEqual(["NAME", "name"]);
  });
});
