import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withEntries } from "../support/entries.ts";

// What the guides show is what runs: each block of JavaScript, as it stands, with a
// real directory where it says /repo and another where it says /state.
const folder = new URL("../../docs/guides/", import.meta.url);
const PAGES = readdirSync(folder).filter((name) => name.endsWith(".md"));
const BLOCKS = PAGES.flatMap((name) => {
  const page = readFileSync(new URL(name, folder), "utf8");
  const found: { readonly name: string; readonly block: string }[] = [];
  let title = "";
  for (const [, heading, block] of page.matchAll(/^#+ ([^\n]*)$|^```js(?: node=\w+)?\n(.*?)^```$/gms)) {
    title = heading ?? title;
    if (block !== undefined) found.push({ name: `${name} ${found.length + 1}: ${title}`, block });
  }
  return found;
});

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true });
});

describe("the guides' examples", () => {
  test("each guide has some", () => {
    const pages = new Set(BLOCKS.map(({ name }) => name.split(" ")[0]));
    expect([...pages]).toEqual([
      "agents.md",
      "backends.md",
      "browsers.md",
      "bundling.md",
      "ci.md",
      "deployment.md",
      "elements.md",
      "fleets.md",
      "forks.md",
      "getting-started.md",
      "hooks.md",
      "migrating.md",
      "presets.md",
      "review.md",
      "scale.md",
      "security.md",
      "undo-and-audit.md",
    ]);
  });

  test("every platform has its part", () => {
    const deployment = readFileSync(new URL("deployment.md", folder), "utf8");
    const parts = [...deployment.matchAll(/^## (.*)$/gmu)].map(([, part]) => part);
    expect(parts).toEqual(
      expect.arrayContaining(["Linux", "macOS and Windows", "Remote", "Browsers and edge functions"]),
    );
  });

  test("each guide is listed", () => {
    const list = readFileSync(new URL("README.md", folder), "utf8");
    for (const name of PAGES) if (name !== "README.md") expect(list).toContain(`(${name})`);
  });

  test.for(BLOCKS)("$name", async ({ block }) => {
    const dir = mkdtempSync(join(tmpdir(), "filewright-guide-"));
    made.push(dir);
    mkdirSync(join(dir, "repo/src"), { recursive: true });
    writeFileSync(join(dir, "repo/src/a.ts"), "// TODO: less\nconst retries = 3;\n");
    writeFileSync(join(dir, "repo/old.log"), "old\n");
    writeFileSync(join(dir, "repo/.env"), "KEY=1\n");
    mkdirSync(join(dir, "repo/docs"));
    mkdirSync(join(dir, "state"));
    const code = withEntries(block)
      .replaceAll("console.assert(", "globalThis.holds(")
      .replaceAll("console.log(", "void (")
      .replaceAll("/repo", join(dir, "repo"))
      .replaceAll("/state", join(dir, "state"));
    const said: unknown[] = [];
    Object.assign(globalThis, { holds: (value: unknown) => said.push(value) });
    const file = new URL(`./.guide-${process.pid}-${made.length}.mjs`, import.meta.url);
    writeFileSync(file, code);
    try {
      await import(/* @vite-ignore */ file.href);
    } finally {
      rmSync(file);
    }
    expect(said.every((value) => value === true)).toBe(true);
  });
});
