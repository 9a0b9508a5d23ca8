/** The site: every internal link leads to a page or a heading, and no page loads anything from elsewhere. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { buildSite } from "../../scripts/site.mjs";

const folder = mkdtempSync(join(tmpdir(), "filewright-site-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns a page without its examples of code, in which addresses are only text. */
const pageOf = (file: string): string =>
  readFileSync(file, "utf8").replaceAll(/<(pre|code)\b[^>]*>[\s\S]*?<\/\1>/gu, "");

const idsByFile = new Map<string, ReadonlySet<string>>();
function hasId(file: string, id: string): boolean {
  const ids =
    idsByFile.get(file) ??
    new Set([...readFileSync(file, "utf8").matchAll(/\sid="([^"]*)"/gu)].map(([, one = ""]) => one));
  idsByFile.set(file, ids);
  return ids.has(id);
}

it("is built, has the guides and the playground, and no link in it is broken", {
  timeout: 600_000,
}, async () => {
  await buildSite(folder);
  const names = readdirSync(folder, { recursive: true }).map(String);
  const pages = names.filter((name) => name.endsWith(".html"));
  expect(names).toEqual(expect.arrayContaining(["index.html", join("playground", "index.html")]));
  const guides = readdirSync(resolve(import.meta.dirname, "../../docs/guides")).filter((name) =>
    name.endsWith(".md"),
  );
  const missing = guides.filter(
    (guide) => !names.includes(join("documents", `guides_${guide.replace(/\.md$/u, ".html")}`)),
  );
  expect(missing).toEqual([]);

  const broken: string[] = [];
  const foreign: string[] = [];
  let count = 0;
  for (const name of pages) {
    const file = join(folder, name);
    for (const [, attribute, address = ""] of pageOf(file).matchAll(/\s(href|src)="([^"]*)"/gu)) {
      if (/^[a-z]+:/iu.test(address)) {
        if (attribute === "src" && !address.startsWith("data:")) foreign.push(`${name}: ${address}`);
        continue;
      }
      count += 1;
      const [path = "", id = ""] = address.split("#", 2).map(decodeURIComponent);
      const target = path === "" ? file : resolve(dirname(file), path);
      const isThere = existsSync(target) && (id === "" || !target.endsWith(".html") || hasId(target, id));
      if (!isThere) broken.push(`${name}: ${address}`);
    }
  }
  expect(count).toBeGreaterThan(1000);
  expect(broken).toEqual([]);
  expect(foreign).toEqual([]);
  // Style sheets and scripts name nothing outside either.
  const loaded = names.filter((name) => /^assets.*\.(?:css|js)$/u.test(name));
  expect(
    loaded.filter((name) => /url\(\s*["']?https?:/u.test(readFileSync(join(folder, name), "utf8"))),
  ).toEqual([]);
});
