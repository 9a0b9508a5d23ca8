/** Attacks on what is written: whole or not at all, and nothing of others lost. */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { ARMS, type Row, runRows, world } from "./world.ts";

const ROWS: readonly Row[] = [
  {
    n: 86,
    title: "the third of five changes fails: none is made",
    steps: [
      [
        "batch",
        {
          operations: [
            { tool: "write_file", args: { path: "one", content: "1" } },
            { tool: "write_file", args: { path: "f", content: "changed" } },
            { tool: "edit_file", args: { path: "a/f", old_text: "not there", new_text: "x" } },
            { tool: "delete", args: { path: "a/f" } },
            { tool: "mkdir", args: { path: "made" } },
          ],
        },
        "MATCH_NOT_FOUND",
      ],
      [
        "apply_patch",
        {
          patch:
            "--- /dev/null\n+++ b/one\n@@ -0,0 +1 @@\n+1\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-inside f\n+changed\n--- a/a/f\n+++ b/a/f\n@@ -1 +1 @@\n-something else\n+x\n",
        },
        "PATCH_FAILED",
      ],
    ],
    after: (at) => {
      expect([at.text("one"), at.text("f"), at.text("a/f")]).toEqual([
        undefined,
        "inside f\n",
        "inside a/f\n",
      ]);
      expect(at.tree(".")).not.toContain("made");
    },
  },
];

runRows(ROWS);

describe.each(ARMS)("$name", (arm) => {
  test("twenty edits at once of one file, each elsewhere in it, are all there", async () => {
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n} old\n`);
    const at = await world(arm, { many: lines.join("") });
    const results = await Promise.all(
      lines.map((line) =>
        at.ws.call("edit_file", { path: "many", old_text: line, new_text: line.replace("old", "new") }),
      ),
    );
    expect(results.filter(({ ok }) => ok)).toHaveLength(20);
    expect(at.text("many")).toBe(lines.join("").replaceAll("old", "new"));
  });

  test("two moves against each other end, one way or the other", async () => {
    const at = await world(arm, { x: "one", y: "two" });
    for (let round = 0; round < 20; round += 1) {
      const results = await Promise.all([
        at.ws.call("move", { source: "x", destination: "y", overwrite: true }),
        at.ws.call("move", { source: "y", destination: "x", overwrite: true }),
      ]);
      expect(results.some(({ ok }) => ok)).toBe(true);
      expect([at.text("x"), at.text("y")].filter((text) => text !== undefined)).toHaveLength(1);
      at.put("x", "one");
      at.put("y", "two");
    }
  });

  test("an edit keeps every byte it does not touch", async () => {
    const at = await world(arm);
    const bytes = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from("one\r\ntwo \u00e4\r\nthree\nlast without an end"),
    ]);
    at.put("mixed", bytes);
    expect(await at.ws.call("edit_file", { path: "mixed", old_text: "three", new_text: "3" })).toMatchObject({
      ok: true,
    });
    expect(Buffer.from(at.bytes("mixed"))).toEqual(
      Buffer.from(bytes.toString("latin1").replace("three", "3"), "latin1"),
    );
    const latin = Buffer.from("caf\u00e9 au lait\nna\u00efve\nplain\n", "latin1");
    at.put("latin", latin);
    const edited = await at.ws.call("edit_file", { path: "latin", old_text: "plain", new_text: "simple" });
    expect(edited.ok, edited.text).toBe(true);
    expect(Buffer.from(at.bytes("latin"))).toEqual(
      Buffer.from(latin.toString("latin1").replace("plain", "simple"), "latin1"),
    );
  });

  test("a file that was only touched is written", async () => {
    const at = await world(arm);
    const { hash } = (await at.ws.readFile({ path: "f" })) as { hash: string };
    at.put("f", "inside f\n");
    if (arm.disk) fs.utimesSync(at.at("f"), 1, 1);
    expect(await at.ws.call("write_file", { path: "f", content: "x", expected_hash: hash })).toMatchObject({
      ok: true,
    });
  });

  test("other bytes of the same size at the same time are a conflict", async () => {
    const at = await world(arm);
    const { hash } = (await at.ws.readFile({ path: "f" })) as { hash: string };
    const { atime, mtime } = arm.disk ? fs.statSync(at.at("f")) : { atime: 0, mtime: 0 };
    at.put("f", "INSIDE F\n");
    if (arm.disk) fs.utimesSync(at.at("f"), atime, mtime);
    for (const [tool, args] of [
      ["write_file", { path: "f", content: "x", expected_hash: hash }],
      ["edit_file", { path: "f", old_text: "INSIDE", new_text: "x", expected_hash: hash }],
    ] as const) {
      expect(await at.ws.call(tool, args)).toMatchObject({ error: { code: "CONFLICT" } });
    }
    expect(at.text("f")).toBe("INSIDE F\n");
  });
});

describe.each(ARMS.filter((arm) => arm.disk))("$name", (arm) => {
  test("a file without write permission is not written, not by root either", async () => {
    const at = await world(arm);
    fs.chmodSync(at.at("f"), 0o444);
    for (const [tool, args] of [
      ["write_file", { path: "f", content: "x" }],
      ["write_file", { path: "f", content: "x", append: true }],
      ["edit_file", { path: "f", old_text: "inside", new_text: "x" }],
    ] as const) {
      expect(await at.ws.call(tool, args), tool).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
    }
    expect(at.text("f")).toBe("inside f\n");
  });

  test("the rights of a file outlive its replacement, and set-user-id does not", async () => {
    const at = await world(arm);
    for (const [before, after] of [
      [0o754, 0o754],
      [0o600, 0o600],
      [0o4755, 0o755],
      [0o2755, 0o755],
    ] as const) {
      fs.writeFileSync(at.at("p"), "old");
      fs.chmodSync(at.at("p"), before);
      expect(await at.ws.call("write_file", { path: "p", content: "new" })).toMatchObject({ ok: true });
      expect(at.text("p")).toBe("new");
      expect(fs.statSync(at.at("p")).mode & 0o7777).toBe(after);
    }
  });
});
