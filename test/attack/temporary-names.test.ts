/** Attacks by names of Filewright's own temporary files, which are hidden from listings and removed without notice. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { newTempName } from "../../js/backends/node/temp.node.ts";
import { ARMS, everyTool, type Row, runRows, world } from "./world.ts";

/** The name of a temporary file of a process that has ended: the next change in its directory removes it. */
function nameOfEndedProcess(): string {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const [prefix, realm, , , nonce] = newTempName().split("-");
  return [prefix, realm, pid.toString(16), "1", nonce].join("-");
}

const STALE = nameOfEndedProcess();

const ROWS: readonly Row[] = [
  {
    n: 107,
    title: "no tool moves, writes or reads by the name of a temporary file",
    options: { rules: [{ tool: "delete", decision: "deny" }] },
    steps: [
      ["move", { source: "f", destination: STALE }, "PROTECTED_PATH"],
      ["move", { source: "f", destination: `a/../${STALE}` }, "PROTECTED_PATH"],
      ["move", { source: "f", destination: `a/${STALE}-kept` }, "PROTECTED_PATH"],
      ["move", { source: "a", destination: STALE }, "PROTECTED_PATH"],
      ["write_file", { path: `${STALE}/below`, content: "x", create_dirs: true }, "PROTECTED_PATH"],
      ["apply_patch", { patch: `--- a/f\n+++ b/${STALE}\n@@ -1 +1 @@\n-inside f\n+x\n` }, "PROTECTED_PATH"],
      [
        "batch",
        { operations: [{ tool: "move", args: { source: "f", destination: STALE } }] },
        "PROTECTED_PATH",
      ],
      ...everyTool(STALE, "PROTECTED_PATH"),
      // A change in each directory sweeps it.
      ["write_file", { path: "g", content: "x" }, "OK"],
      ["write_file", { path: "a/g", content: "x" }, "OK"],
    ],
    after: (at) => {
      expect([at.text("f"), at.text("a/f")]).toEqual(["inside f\n", "inside a/f\n"]);
    },
  },
];

runRows(ROWS);

describe.each(ARMS)("$name", (arm) => {
  test("a link does not lead a change to the name of a temporary file", async () => {
    const at = await world(arm, {
      [`${STALE}/old`]: "x",
      door: { link: STALE },
      dangling: { link: `${STALE}-kept` },
    });
    const results = [
      await at.ws.call("move", { source: "f", destination: "door/f" }),
      await at.ws.call("write_file", { path: "door/made", content: "x" }),
      await at.ws.call("mkdir", { path: "door/directory" }),
      await at.ws.call("write_file", { path: "dangling", content: "x" }),
      await at.ws.call("batch", {
        operations: [{ tool: "move", args: { source: "f", destination: "door/f" } }],
      }),
    ];
    expect(results.map((result) => (result.ok ? "OK" : result.error.code))).toEqual(
      Array.from({ length: 5 }, () => "PROTECTED_PATH"),
    );
    expect(at.text("f")).toBe("inside f\n");
  });

  test("the refusal says what to do, and similar names are files like others", async () => {
    const at = await world(arm);
    const refused = await at.ws.call("move", { source: "f", destination: STALE });
    expect(refused.text).toMatch(/temporary files?.*another name/u);
    for (const name of [".filewright-notes", `${STALE}x`, STALE.toUpperCase(), `x${STALE}`]) {
      expect(await at.ws.call("write_file", { path: name, content: "mine" })).toMatchObject({ ok: true });
      expect(await at.ws.call("write_file", { path: "other", content: name })).toMatchObject({ ok: true });
      expect(at.text(name)).toBe("mine");
    }
  });
});
