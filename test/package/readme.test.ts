import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withEntries } from "../support/entries.ts";

// What the README shows is what runs: each block of TypeScript, as it stands,
// with a real directory where it says /repo.
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] as string);
const made: string[] = [];

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), "filewright-readme-"));
  made.push(dir);
  mkdirSync(join(dir, "src"));
  writeFileSync(join(dir, "src/a.ts"), "// TODO: less\nconst retries = 3;\n");
  return dir;
}

afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true });
});

describe("the README's examples", () => {
  test("there is one", () => {
    expect(blocks).toHaveLength(1);
  });

  test("twenty seconds: a search, and an edit that is applied", async () => {
    const repo = directory();
    await run(blocks[0] as string, repo);
    expect(readFileSync(join(repo, "src/a.ts"), "utf8")).toContain("const retries = 5;");
  });

  test("docs/reading.md: a reader of one's own", async () => {
    const page = readFileSync(new URL("../../docs/reading.md", import.meta.url), "utf8");
    const [, block] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const check = 'if (text !== "a recording of 2 seconds") throw new Error(text);';
    await run(`${block}\n${check}`, directory());
  });
});

async function run(block: string, repo: string): Promise<void> {
  const code = withEntries(block).replaceAll('"/repo"', JSON.stringify(repo));
  const file = new URL(`./.readme-${process.pid}-${made.length}.ts`, import.meta.url);
  writeFileSync(file, `${code}\nexport {};\n`);
  try {
    await import(/* @vite-ignore */ file.href);
  } finally {
    rmSync(file);
  }
}
