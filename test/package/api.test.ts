/** The public surface, written down: whoever changes it changes a page of docs/reference, and a reviewer sees it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

test("what each entry exports is what is written down; run `npm run api` after a change", () => {
  const printed = execFileSync(process.execPath, ["scripts/api.mjs", "--print"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 16 << 20,
  });
  const pages = ["api", "api-storage"].map((name) =>
    readFileSync(join(ROOT, `docs/reference/${name}.md`), "utf8"),
  );
  expect(printed.split("\n")).toEqual(pages.join("").split("\n"));
});
