/** A name is denied in whichever normal form of Unicode a disk holds it, and a rule is written. */
import { describe, expect, test } from "vitest";
import type { WorkspaceOptions } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const FORMS = ["NFC", "NFD"] as const;
const name = (form: "NFC" | "NFD"): string => "caf\u00e9".normalize(form);

/** Ways to deny a directory by its name. */
const WAYS: readonly (readonly [string, (dir: string) => Partial<WorkspaceOptions>])[] = [
  ["access.deny", (dir) => ({ access: { deny: [dir] } })],
  ["a glob of access.deny", (dir) => ({ access: { deny: [`${dir}/**`] } })],
  ["a rule", (dir) => ({ rules: [{ path: `${dir}/**`, decision: "deny" }] })],
  ["a rule at any depth", (dir) => ({ rules: [{ path: dir, decision: "deny" }] })],
];

const CALLS: readonly (readonly [tool: string, args: (dir: string) => Record<string, unknown>])[] = [
  ["read_file", (dir) => ({ path: `${dir}/a.txt` })],
  ["grep", () => ({ pattern: "MARKER" })],
  ["read_many_files", () => ({ paths: ["**/*"] })],
  ["list_directory", (dir) => ({ path: dir })],
  ["delete", (dir) => ({ path: dir, recursive: true })],
  ["move", (dir) => ({ source: dir, destination: "out" })],
  ["delete", () => ({ path: "top", recursive: true })],
  ["write_file", (dir) => ({ path: `${dir}/a.txt`, content: "x" })],
];

describe.each(KINDS)("on %s", (kind) => {
  for (const [way, options] of WAYS) {
    test.each(FORMS.flatMap((kept) => FORMS.map((given) => [given, kept] as const)))(
      `${way} in %s holds for a directory whose name is in %s`,
      async (given, kept) => {
        for (const [tool, args] of CALLS) {
          const dir = name(kept);
          const seed = { [`${dir}/a.txt`]: "MARKER\n", [`top/${dir}/a.txt`]: "MARKER\n" };
          const only = way === "a rule at any depth" || way === "access.deny";
          const { ws, text } = await place(
            kind,
            only ? seed : { [`${dir}/a.txt`]: "MARKER\n" },
            options(name(given)) as Parameters<typeof place>[2],
          );
          const result = await ws.call(tool, args(dir));
          expect(JSON.stringify(result.data ?? {}), `${tool} ${result.text}`).not.toContain("MARKER");
          expect(await text(`${dir}/a.txt`), tool).toBe("MARKER\n");
          if (only) expect(await text(`top/${dir}/a.txt`), tool).toBe("MARKER\n");
        }
      },
    );
  }
});
