/** That every attack of the list is made somewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ATTACKS } from "./cases.ts";

const here = import.meta.dirname;
const tests = readdirSync(here)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(here, name), "utf8"))
  .join("\n");

test("the list has no gap", () => {
  expect(ATTACKS.map(({ n }) => n)).toEqual(Array.from({ length: 106 }, (_, at) => at + 1));
});

test.each(ATTACKS.map(({ n, title, at, missing }) => [`${n} ${title}`, n, at, missing] as const))(
  "%s",
  (_, n, at, missing) => {
    if (missing !== undefined) expect(at).toBeUndefined();
    else if (at === undefined) {
      // A row of a table, or the numbers that a title begins with.
      expect(new RegExp(`\\bn: ${n},|"(?:\\d+ )*${n} `, "u").test(tests)).toBe(true);
    } else {
      expect(readFileSync(resolve(here, "../..", at[0]), "utf8")).toContain(at[1]);
    }
  },
);
