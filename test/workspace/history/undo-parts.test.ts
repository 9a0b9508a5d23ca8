/** The undo of some hunks of a call: the rest of the call stays, and so does what others changed in other lines. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "../../tools/harness.ts";
import { errorOf, idOfCall } from "../../support/calls.ts";

/** Twenty numbered lines; those of `changed` are in capital letters. */
function lines(changed: readonly number[], eol = "\n"): string {
  const all = Array.from({ length: 20 }, (_, n) => (changed.includes(n) ? `LINE ${n}` : `line ${n}`));
  return all.join(eol) + eol;
}

const edit = (n: number): Record<string, string> => ({ old_text: `line ${n}\n`, new_text: `LINE ${n}\n` });
const BOM = "\uFEFF";

describe.each(KINDS)("an undo of some hunks on %s", (kind) => {
  /** A file with a byte order mark and CRLF, of which one call has changed three lines. */
  async function changed() {
    const at = await place(kind, { "a.txt": BOM + lines([], "\r\n"), "b.txt": "one\n" }, { review: "after" });
    const callId = await idOfCall(at.ws, "edit_file", { path: "a.txt", edits: [1, 10, 18].map(edit) });
    expect(await at.text("a.txt")).toBe(BOM + lines([1, 10, 18], "\r\n"));
    return { ...at, callId };
  }

  test("restores them, keeps the others, and can be undone", async () => {
    const { ws, text, callId } = await changed();
    const parts = [{ path: "a.txt", hunks: [0, 2] }];
    const shown = await ws.undo(callId, { parts, dryRun: true });
    expect(shown.callId).toBeUndefined();
    expect(shown.changes.map(({ display, hunks }) => [display, hunks.length])).toEqual([["a.txt", 2]]);
    expect(await text("a.txt")).toBe(BOM + lines([1, 10, 18], "\r\n"));
    const undone = await ws.undo(callId, { parts, digest: shown.digest });
    expect(undone).toMatchObject({ paths: ["a.txt"], digest: shown.digest });
    expect(await text("a.txt")).toBe(BOM + lines([10], "\r\n"));
    // The rest of the call still waits for a review; what a person took back does not.
    expect((await ws.unreviewed()).calls.map((call) => call.callId)).toEqual([callId]);
    expect((await ws.history())[0]).toMatchObject({ callId: undone.callId, undoOf: callId });
    await ws.undo(undone.callId ?? "");
    expect(await text("a.txt")).toBe(BOM + lines([1, 10, 18], "\r\n"));
  });

  test("restores some lines of a hunk", async () => {
    const at = await place(kind, { "a.txt": "a\nb\nc\n" });
    const callId = await idOfCall(at.ws, "edit_file", { path: "a.txt", old_text: "b\n", new_text: "B\nX\n" });
    const [change] = await at.ws.changes(callId);
    const rows = change?.hunks[0]?.rows ?? [];
    const added = rows.findIndex(({ kind: of, text }) => of === "added" && text.startsWith("X"));
    expect(added, JSON.stringify(rows)).toBeGreaterThan(0);
    await at.ws.undo(callId, { parts: [{ path: "a.txt", hunks: [], lines: [{ hunk: 0, rows: [added] }] }] });
    expect(await at.text("a.txt")).toBe("a\nB\nc\n");
  });

  test("keeps what another call changed since in other lines, and refuses these lines", async () => {
    const at = await place(kind, { "a.txt": lines([]) });
    const callId = await idOfCall(at.ws, "edit_file", { path: "a.txt", edits: [1, 10, 18].map(edit) });
    await idOfCall(at.ws, "edit_file", { path: "a.txt", old_text: "line 5\n", new_text: "five\n" });
    await idOfCall(at.ws, "edit_file", { path: "a.txt", old_text: "LINE 18\n", new_text: "eighteen\n" });
    const error = await errorOf(at.ws.undo(callId, { parts: [{ path: "a.txt", hunks: [2] }] }));
    expect(error).toMatchObject({ code: "CONFLICT", path: "a.txt" });
    expect(error.hint).toContain("undo the later changes first");
    await at.ws.undo(callId, { parts: [{ path: "a.txt", hunks: [0] }] });
    const expected = lines([10]).replace("line 5\n", "five\n").replace("line 18\n", "eighteen\n");
    expect(await at.text("a.txt")).toBe(expected);
    // Undone already: nothing is changed, and nothing is recorded.
    const again = await at.ws.undo(callId, { parts: [{ path: "a.txt", hunks: [0] }] });
    expect(again).toMatchObject({ paths: [] });
    expect(again.callId).toBeUndefined();
  });

  test("refuses a file that another program has changed since", async () => {
    const { ws, foreign, text, callId } = await changed();
    await foreign("a.txt", "other\n");
    const error = await errorOf(ws.undo(callId, { parts: [{ path: "a.txt", hunks: [0] }] }));
    expect(error.code).toBe("CONFLICT");
    expect(await text("a.txt")).toBe("other\n");
  });

  test("does what its preview showed, or nothing", async () => {
    const { ws, text, callId } = await changed();
    const parts = [{ path: "a.txt", hunks: [0] }];
    const { digest } = await ws.undo(callId, { parts, dryRun: true });
    await idOfCall(ws, "edit_file", { path: "a.txt", old_text: "line 5", new_text: "five" });
    const before = await text("a.txt");
    const error = await errorOf(ws.undo(callId, { parts, digest }));
    expect(error).toMatchObject({ code: "CONFLICT", details: { reason: "planned_before" } });
    expect(await text("a.txt")).toBe(before);
  });

  test("restores files that were created and deleted, each as one", async () => {
    const { ws, text } = await place(kind, { "old.txt": "old\n", "keep.txt": "1\n" });
    const callId = await idOfCall(ws, "batch", {
      operations: [
        { tool: "delete", args: { path: "old.txt" } },
        { tool: "write_file", args: { path: "new.txt", content: "new\n" } },
        { tool: "edit_file", args: { path: "keep.txt", old_text: "1", new_text: "2" } },
      ],
    });
    const parts = [
      { path: "old.txt", hunks: [0] },
      { path: "new.txt", hunks: [0] },
    ];
    const { callId: undo = "" } = await ws.undo(callId, { parts });
    expect([await text("old.txt"), await text("new.txt"), await text("keep.txt")]).toEqual([
      "old\n",
      undefined,
      "2\n",
    ]);
    await ws.undo(undo);
    expect([await text("old.txt"), await text("new.txt")]).toEqual([undefined, "new\n"]);
  });

  test("refuses hunks that the call does not have, and options without parts", async () => {
    const { ws, text, callId } = await changed();
    const codeOf = async (parts: readonly object[]): Promise<string> =>
      (await errorOf(ws.undo(callId, { parts: parts as never }))).code;
    expect(await codeOf([])).toBe("INVALID_ARGUMENT");
    expect(await codeOf([{ path: "a.txt", hunks: [3] }])).toBe("INVALID_ARGUMENT");
    expect(await codeOf([{ path: "a.txt", hunks: [] }])).toBe("INVALID_ARGUMENT");
    expect(await codeOf([{ path: "b.txt", hunks: [0] }])).toBe("INVALID_ARGUMENT");
    expect(await codeOf([{ path: "a.txt", hunks: [0], line: 1 }])).toBe("INVALID_ARGUMENT");
    expect((await errorOf(ws.undo(callId, { dryRun: true }))).code).toBe("INVALID_ARGUMENT");
    expect((await errorOf(ws.undo("nowhere", { parts: [{ path: "a.txt", hunks: [0] }] }))).code).toBe(
      "NOT_FOUND",
    );
    expect(await text("a.txt")).toBe(BOM + lines([1, 10, 18], "\r\n"));
  });

  test("is refused where the policy no longer allows a change", async () => {
    const { ws, text, callId } = await changed();
    const agent = await ws.agent("reader", { access: { readOnly: true } });
    const error = await errorOf(agent.undo(callId, { parts: [{ path: "a.txt", hunks: [0] }] }));
    expect(error.code).toBe("READ_ONLY");
    expect(await text("a.txt")).toBe(BOM + lines([1, 10, 18], "\r\n"));
  });
});
