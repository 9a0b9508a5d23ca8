import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

// An adapter works with whatever version of its SDK the host has, because it imports none of it.
const folder = new URL("../../js/adapters/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));

describe("adapters import nothing but our own rooms", () => {
  test.each(files)("%s", (name) => {
    const code = readFileSync(new URL(name, folder), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    const specifiers = [...code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']/g)].map(
      ([, s]) => s,
    );
    expect(specifiers.filter((specifier) => !specifier?.startsWith("."))).toEqual([]);
  });
});
