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
  test("there are some", () => {
    expect(blocks.length).toBeGreaterThanOrEqual(2);
  });

  test("twenty seconds: a search, and an edit that is applied", async () => {
    const repo = directory();
    await run(blocks[0] as string, repo);
    expect(readFileSync(join(repo, "src/a.ts"), "utf8")).toContain("const retries = 5;");
  });

  test("presets: the tools under other names", async () => {
    const repo = directory();
    writeFileSync(join(repo, "README.md"), "# A project\n");
    await run(blocks[1] as string, repo);
  });

  test("who may do what: rules, approvals, grants", async () => {
    await run(blocks[2] as string, directory());
  });

  test("who may do what: a hook around any tool", async () => {
    await run(blocks[3] as string, directory());
  });

  test("who did what: a guard, a log, counters and mentions", async () => {
    const repo = directory();
    writeFileSync(join(repo, "README.md"), "# A project\n");
    await run(blocks[4] as string, repo);
    expect(readFileSync(join(repo, ".local/state/agent/audit.jsonl"), "utf8")).toContain('"agent":"main"');
  });

  test("storage: a workspace in memory", async () => {
    await run(blocks[5] as string, directory());
  });

  test("docs/reading.md: a reader of one's own", async () => {
    const page = readFileSync(new URL("../../docs/reading.md", import.meta.url), "utf8");
    const [, block] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const check = 'if (text !== "a recording of 2 seconds") throw new Error(text);';
    await run(`${block}\n${check}`, directory());
  });
});

async function run(block: string, repo: string): Promise<void> {
  const code = withEntries(block).replaceAll("/home/me", repo).replaceAll('"/repo"', JSON.stringify(repo));
  const file = new URL(`./.readme-${process.pid}-${made.length}.ts`, import.meta.url);
  writeFileSync(file, `${code}\nexport {};\n`);
  try {
    await import(/* @vite-ignore */ file.href);
  } finally {
    rmSync(file);
  }
}
