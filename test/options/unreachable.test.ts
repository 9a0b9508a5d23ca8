/** Restrictions that can restrict nothing: deny globs, paths of rules, places and lists that match nothing below a root. */
import { describe, expect, test } from "vitest";
import {
  headlessApprover,
  MemoryBackend,
  openWorkspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

const ROOT = "/base/ws";

async function open(options: Omit<WorkspaceOptions, "root" | "backend">) {
  const backend = new MemoryBackend({ [`${ROOT}/vault/a`]: "x", [`${ROOT}/b`]: "x", "/base/out/c": "x" });
  const ws = await openWorkspace({ root: ROOT, backend, ...options });
  afterThisTest(() => ws.close());
  return ws;
}

/** Globs that only their text makes wrong. */
const BY_TEXT: readonly (readonly [name: string, glob: string, reason: RegExp])[] = [
  ["the home directory", "~", /only a shell replaces/u],
  ["a path in the home directory", "~/vault", /only a shell replaces/u],
  ["another user's home directory", "~ann/vault/**", /only a shell replaces/u],
  ["a variable", "$HOME/vault", /only a shell replaces/u],
  ["a variable in braces", `$${"{HOME}"}/vault`, /only a shell replaces/u],
  ["a variable of Windows", "%USERPROFILE%/vault", /only a shell replaces/u],
  ["a file URL", `file://${ROOT}/vault`, /is a URL/u],
  ["a file URL with one slash", `file:${ROOT}/vault`, /is a URL/u],
  ["another URL", "https://host/vault", /is a URL/u],
  ["a blank before", " vault", /U\+0020/u],
  ["a blank behind", "vault/** ", /U\+0020/u],
  ["a blank behind an inner name", "vault /**", /U\+0020/u],
  ["a line feed", "vault\n", /U\+000A/u],
  ["a tab", "\tvault", /U\+0009/u],
  ["a no-break space", "vault\u{a0}", /U\+00A0/u],
  ["an ideographic space", "\u{3000}vault", /U\+3000/u],
  ["a zero width space", "vault\u{200b}", /U\+200B/u],
  ["a byte order mark", "\u{feff}vault/**", /U\+FEFF/u],
  ["a word joiner", "vault\u{2060}/x", /U\+2060/u],
  ["a bidirectional mark", "\u{202e}vault", /U\+202E/u],
  ["an Arabic letter mark", "vault\u{61c}", /U\+061C/u],
  ["a tag", "vault\u{e0041}", /U\+E0041/u],
  ["a filler", "vault\u{3164}", /U\+3164/u],
  ["one alternative with a blank", "{vault ,b}", /U\+0020/u],
  ["quotes", '"vault/**"', /quotes/u],
];

/** Globs that begin at the root of the file system, outside the root of the workspace. */
const BY_PLACE: readonly (readonly [name: string, glob: string])[] = [
  ["a root of its own", "/vault"],
  ["a directory beside the root", "/base/out/**"],
  ["a directory with the same beginning", "/base/w"],
  ["another letter case", "/BASE/ws/vault"],
  ["a wildcard above", "/*/out/**"],
  ["alternatives outside", "{/vault,/x}/y"],
];

const refused = (options: Omit<WorkspaceOptions, "root" | "backend">) => expect(open(options)).rejects;

describe.each(BY_TEXT)("%s", (_, glob, reason) => {
  test("is refused where it would restrict nothing", async () => {
    await refused({ access: { deny: ["b", glob] } }).toThrow(reason);
    await refused({ access: { deny: [glob] } }).toMatchObject({ code: "INVALID_GLOB" });
    await refused({ rules: [{ path: glob, decision: "deny" }] }).toThrow(/rules\[0\]\.path/u);
    await refused({ rules: [{ path: glob, decision: "ask" }] }).toThrow(reason);
    if (!glob.includes("$")) await refused({ access: { places: { secret: [glob] } } }).toThrow();
    const ws = await open({});
    await expect(ws.agent("a", { access: { deny: [glob] } })).rejects.toThrow(reason);
    await expect(ws.agent("b", { rules: [{ path: glob, decision: "deny" }] })).rejects.toThrow(reason);
  });
});

describe.each(BY_PLACE)("%s", (_, glob) => {
  test("is refused unless calls may reach it", async () => {
    const words = new RegExp(`below '${ROOT}'`, "u");
    await refused({ access: { deny: [glob] } }).toThrow(words);
    await refused({ rules: [{ path: glob, decision: "deny" }] }).toThrow(words);
    const ws = await open({});
    await expect(ws.agent("a", { access: { deny: [glob] } })).rejects.toThrow(words);
    await open({ access: { deny: [glob], read: null } });
    await open({ access: { deny: [glob], followSymlinks: "any" } });
  });
});

test("places that can match nothing are refused", async () => {
  for (const place of ["/vault", ROOT, "/base", "/base/out/x"])
    for (const list of ["secret", "refuse"] as const)
      await refused({ access: { places: { [list]: [place] } } }).toThrow(/access\.places/u);
  await open({ access: { places: { secret: [`${ROOT}/vault`, "vault", "*.token"] } } });
});

test("lists of directories that only a shell could read are refused", async () => {
  for (const list of ["read", "write"] as const)
    for (const path of ["~/x", "$HOME/x", "file:///base", " x"])
      await refused({ access: { [list]: [path] } }).toThrow(/access\.(read|write)\[0\]/u);
});

test("an unattended approver refuses such a path, too", () => {
  for (const path of ["/repo ", "/repo/\u{200b}", "**/x\u{feff}"])
    expect(() => headlessApprover({ rules: [{ path, decision: "allow" }] })).toThrow(/U\+/u);
});

/** Globs that look similar and deny the file `vault/a`. */
test.each([
  ["vault"],
  ["vault/**"],
  ["**/vault"],
  ["./vault"],
  [`${ROOT}/vault`],
  ["/base"],
  ["/**/a"],
  ["/base/*/vault/**"],
  ["../ws/vault"],
  ["{vault,x}/**"],
  ["{vault,/elsewhere}"],
  ["va?lt"],
])("%s holds", async (glob) => {
  const ws = await open({ access: { deny: [glob] } });
  expect((await ws.call("read_file", { path: "vault/a" })).ok).toBe(false);
});

test.each([
  ["my docs/a b.md"],
  ["src/$id/**"],
  ["[ ]x"],
  ["x\\ "],
  ["\\[slug\\]/**"],
  ["\u{2764}\u{fe0f}"],
  ["it's"],
])("%s is a glob like others", async (glob) => {
  await open({ access: { deny: [glob] }, rules: [{ path: glob, decision: "deny" }] });
});
