/** docs/reference/errors.md: a row for each code of the closed list, and for no other. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { CODES } from "../../js/engine/errors.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/reference/errors.md"), "utf8");
const LATER = "`details.reason` tells";

test("every error code has one row with a cause and a remedy", () => {
  const table = page.slice(0, page.indexOf(LATER));
  const rows = [...table.matchAll(/^\| `([A-Z_]+)` \| (\S[^|]+) \| (\S[^|]+) \|$/gmu)].map(
    ([, code]) => code,
  );
  expect(rows.sort()).toEqual([...CODES].sort());
});

test("every reason of the page is one that the code gives", () => {
  const reasons = [...page.slice(page.indexOf(LATER)).matchAll(/^\| `[A-Z_]+` \| (.+?) \|/gmu)].flatMap(
    ([, list = ""]) => list.split(", ").map((one) => one.replaceAll("`", "")),
  );
  const sources = ["js", "packages/storage/src", "crates"].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true, encoding: "utf8" })
      .filter((file) => /(?:\.ts|\.rs)$/u.test(file))
      .map((file) => readFileSync(join(root, dir, file), "utf8")),
  );
  expect(reasons.length).toBeGreaterThan(4);
  const given = (reason: string): boolean =>
    sources.some((text) =>
      [`reason: "${reason}"`, `"reason", "${reason}"`, `=> "${reason}"`].some((form) => text.includes(form)),
    );
  expect(reasons.filter((reason) => !given(reason))).toEqual([]);
});
