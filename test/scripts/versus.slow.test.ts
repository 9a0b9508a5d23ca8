/** The comparison of two packages finds faults that are planted in a copy of this one, and nothing without them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import kind, { compareWith } from "../deep/versus.mjs";

const ROOT = join(import.meta.dirname, "../..");
const ENTRIES = {
  ".": "filewright.node.js",
  "./backends": "backends/index.node.js",
  "./storage": "storage/index.node.js",
  "./presets": "presets/index.node.js",
};

/**
 * Returns a module that is the main entry of this package, with a fault. `call` and `undo` replace those of a
 * workspace; they see `ws`, the workspace without the fault, and `root`, its directory.
 */
const moduleWithFault = (fault: string): string => `
  import * as real from ${JSON.stringify(pathToFileURL(join(ROOT, "dist", ENTRIES["."])).href)};
  import * as fs from "node:fs";
  import { join } from "node:path";
  export * from ${JSON.stringify(pathToFileURL(join(ROOT, "dist", ENTRIES["."])).href)};
  const realOf = new Map();
  export const toolsFor = (ws, preset) => real.toolsFor(realOf.get(ws) ?? ws, preset);
  export async function openWorkspace(options) {
    const ws = await real.openWorkspace(options);
    const root = options.root ?? options.roots[0];
    const replaced = { ${fault} };
    const faulty = new Proxy({}, { get: (_, name) => {
      const member = replaced[name] ?? ws[name];
      return typeof member === "function" ? member.bind(ws) : member;
    } });
    realOf.set(faulty, ws);
    return faulty;
  }
`;

const FAULTS = [
  {
    name: "a lost mode",
    fault: `async call(...given) {
      const result = await ws.call(...given);
      const path = result.ok && /^(?:write|edit)_file$/.test(given[0]) ? join(root, result.data.path) : undefined;
      if (path !== undefined && fs.existsSync(path)) fs.chmodSync(path, 0o644);
      return result;
    }`,
    shows: /differs at step \d+, changed\.@@\/w\/[^\n]*\n\s+base "file 644 .*\n\s+tree "file (?!644)/u,
  },
  {
    name: "an undo that removes the file of another program",
    fault: `async undo(id, options) {
      const changed = await ws.changes(id).catch(() => []);
      const paths = new Set(changed.map(({ path }) => path));
      for (const { path, kind } of changed) {
        if (kind !== "create" || !fs.existsSync(path) || !fs.lstatSync(path).isDirectory()) continue;
        for (const name of fs.readdirSync(path))
          if (!paths.has(join(path, name))) fs.rmSync(join(path, name), { recursive: true });
      }
      return ws.undo(id, options);
    }`,
    shows: /"do":"undo"[^\n]*\n\s+differs at/u,
  },
  {
    name: "another error code",
    fault: `async call(...given) {
      const result = await ws.call(...given);
      if (result.error?.code !== "ALREADY_EXISTS") return result;
      return { ...result, error: { ...result.error, code: "CONFLICT" } };
    }`,
    shows: /answer\.error\.code:\n\s+base "CONFLICT"\n\s+tree "ALREADY_EXISTS"/u,
  },
];

const top = realpathSync(mkdtempSync(join(tmpdir(), "filewright-faults-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** Makes a directory from which `filewright` resolves to this package with a fault. */
function homeWithFault(name: string, fault: string): string {
  const home = join(top, name.replaceAll(" ", "-"));
  const folder = join(home, "node_modules/filewright");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "name": "base" }');
  const files = Object.entries(ENTRIES).map(([entry, file], index) => {
    const url = JSON.stringify(pathToFileURL(join(ROOT, "dist", file)).href);
    writeFileSync(
      join(folder, `${index}.mjs`),
      entry === "." ? moduleWithFault(fault) : `export * from ${url};`,
    );
    return [entry, `./${index}.mjs`];
  });
  const manifest = { name: "filewright", exports: Object.fromEntries(files) };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  return home;
}

describe.skipIf(process.platform === "win32")("deep versus", () => {
  it.each(FAULTS)(
    "finds $name when the earlier package has it",
    async ({ name, fault, shows }) => {
      const home = homeWithFault(name, fault);
      let found: string[] = [];
      // Each round has other sessions, so that a fault that few of them reach is found too.
      for (let round = 0; round < 6 && !found.some((text) => shows.test(text)); round++)
        found = (await compareWith({ home, seed: 1 + round * 1000, count: 700, seconds: Infinity })).failures;
      expect(found.join("\n")).toMatch(shows);
    },
    600_000,
  );

  it("finds nothing when both packages are the same", async () => {
    const home = homeWithFault("none", "");
    const { cases, failures } = await compareWith({ home, seed: 1, count: 500, seconds: Infinity });
    expect({ failures, hasCases: cases >= 500 }).toEqual({ failures: [], hasCases: true });
  }, 600_000);

  it("names the commit and the remedy when the base is not in the clone", async () => {
    const run = { seed: 1, count: 1, operand: "0".repeat(40), isOver: () => false, secondsLeft: () => 1 };
    await expect(kind.run(run)).rejects.toThrow(/no commit 0{40} here; fetch the whole history/u);
  });
});
