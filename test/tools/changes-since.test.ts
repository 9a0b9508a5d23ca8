/** `changes_since`: what others changed since the agent read it, or since a mark or a call. */
import { describe, expect, test } from "vitest";
import type { WorkspaceOptions } from "../../js/index.node.ts";
import { KINDS, place } from "./harness.ts";

const lines = (count: number, changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, n) => `${changed[n + 1] ?? `line ${n + 1}`}\n`).join("");

const options = { knows: true, guard: "refuse" } as const satisfies WorkspaceOptions;

describe.each(KINDS)("changes_since on %s", (kind) => {
  test("shows a change of another agent as a hunk, and then it counts as read", async () => {
    const { ws } = await place(kind, { "a.txt": lines(20), "b.txt": lines(3) }, options);
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    for (const agent of [one, other]) await agent.readFile({ path: "a.txt" });
    expect((await one.call("changes_since", {})).text).toBe("Nothing changed.");
    await other.editFile({ path: "a.txt", old_text: "line 4\n", new_text: "fourth\n" });
    expect((await other.call("changes_since", {})).text).toBe("Nothing changed.");
    const told = await one.call("changes_since", {});
    expect(told.text).toBe(
      [
        "a.txt changed: line 4, by agent B (edit_file, just now)",
        ...[
          "@@ -1,7 +1,7 @@",
          " line 1",
          " line 2",
          " line 3",
          "-line 4",
          "+fourth",
          " line 5",
          " line 6",
          " line 7",
        ],
      ].join("\n"),
    );
    expect((await one.call("changes_since", {})).text).toBe("Nothing changed.");
    const edited = await one.call("edit_file", { path: "a.txt", old_text: "fourth", new_text: "4" });
    expect(edited.ok).toBe(true);
  });

  test("shows the present lines of a change by another program", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": lines(20) }, options);
    await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", lines(19, { 4: "fourth", 5: "fifth" }));
    const told = await ws.call("changes_since", {});
    expect(told.text).toBe(
      "a.txt changed: lines 4-5, removed after 19, by another program\n4\tfourth\n5\tfifth\n[1 removed after line 19]",
    );
    expect((await ws.call("edit_file", { path: "a.txt", old_text: "fourth", new_text: "4" })).ok).toBe(true);
  });

  test("names what does not fit, with the call that shows it, and that is not read", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": lines(400) }, options);
    await ws.readFile({ path: "a.txt" });
    const long = "some words that take their tokens ".repeat(12);
    await foreign("a.txt", lines(400, Object.fromEntries([7, 100, 300].map((n) => [n, `${n} ${long}`]))));
    const { text, data } = await ws.call("changes_since", { max_tokens: 300 });
    expect(text).toContain("7 some words");
    expect(text).toMatch(
      /\n\[the rest is not shown; see it with read_file: path="a.txt", start_line=\d+\]$/u,
    );
    expect((data as { tokens: number }).tokens).toBeLessThanOrEqual(300);
    expect(data).toMatchObject({ truncated: true, files: [{ path: "a.txt" }] });
    const edited = await ws.call("edit_file", { path: "a.txt", old_text: "line 9\n", new_text: "9\n" });
    expect(edited.error?.code).toBe("CONFLICT");
  });

  test("tells what was changed, made and deleted since a mark, and since a call", async () => {
    const { ws } = await place(kind, { "a.txt": lines(3), "gone.txt": "x\n" }, options);
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    await ws.mark("start");
    const first = await other.call("write_file", { path: "new.txt", content: "one\n" });
    await other.readFile({ path: "a.txt" });
    await other.editFile({ path: "a.txt", old_text: "line 2", new_text: "second" });
    await other.readFile({ path: "gone.txt" });
    await other.delete({ path: "gone.txt" });
    const { files } = await one.changesSince({ since: "start" });
    expect(files.map(({ path, what }) => [path, what])).toEqual([
      ["a.txt", "changed"],
      ["gone.txt", "gone"],
      ["new.txt", "new"],
    ]);
    expect(files[0]?.shown).toContain("-line 2\n+second\n");
    expect((await other.changesSince({ since: "start" })).files).toEqual([]);
    expect((await other.changesSince({ since: "start", by: "all", path: "a.txt" })).files).toHaveLength(1);
    const later = await one.changesSince({ since: first.meta.call_id as string });
    expect(later.files.map(({ path }) => path)).toEqual(["a.txt", "gone.txt"]);
  });

  test("tells that a file is gone of which only the version is known, as of a copied directory", async () => {
    const { ws } = await place(kind, { "d/a.txt": "x\n" }, { ...options, guard: "refuse" });
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    await one.copy({ source: "d", destination: "e" });
    await other.readFile({ path: "e/a.txt" });
    await other.delete({ path: "e/a.txt" });
    expect((await one.call("changes_since", {})).text).toContain("e/a.txt gone: by agent B");
  });

  test("tells that a file that was read is gone, once", async () => {
    const { ws } = await place(kind, { "a.txt": "x\n" }, options);
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    for (const agent of [one, other]) await agent.readFile({ path: "a.txt" });
    await other.delete({ path: "a.txt" });
    expect((await one.call("changes_since", {})).text).toBe("a.txt gone: by agent B (delete, just now)");
    expect((await one.call("changes_since", {})).text).toBe("Nothing changed.");
  });

  test.each([true, false])(
    "does not show an earlier content that holds a private key, knows %s",
    async (knows) => {
      const key = `-----BEGIN RSA PRIVATE KEY-----\n${"secretbytes".repeat(6)}\n-----END RSA PRIVATE KEY-----\n`;
      const { ws, foreign } = await place(kind, { "n.txt": "mine\n", "old.txt": key }, { knows });
      const [one, other] = [await ws.agent("A"), await ws.agent("B")];
      await one.readFile({ path: "n.txt" });
      expect((await one.call("read_file", { path: "old.txt" })).error?.code).toBe("GRANT_DENIED");
      await ws.mark("start");
      await foreign("n.txt", key);
      for (const path of ["n.txt", "old.txt"]) {
        await other.delete({ path });
        await other.writeFile({ path, content: "clean\n" });
      }
      for (const since of ["start", "read"]) {
        const told = await one.call("changes_since", { since });
        expect(told.text).toContain("n.txt changed");
        expect(JSON.stringify(told)).not.toContain("secretbytes");
      }
      const open = await place(kind, { "old.txt": key }, { knows, access: { secrets: "allow" } });
      await open.ws.mark("start");
      await (await open.ws.agent("B")).writeFile({ path: "old.txt", content: "clean\n" });
      expect((await open.ws.call("changes_since", { since: "start" })).text).toContain("-secretbytes");
    },
  );

  test("says of an empty answer since a mark that only recorded calls count", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": "x\n" }, options);
    await ws.mark("start");
    await foreign("a.txt", "y\n");
    expect((await ws.call("changes_since", { since: "start" })).text).toBe(
      "No recorded call changed anything; what other programs write is not recorded.",
    );
  });

  test("names the caller as the author of its own changes", async () => {
    const { ws } = await place(kind, {}, options);
    const one = await ws.agent("A");
    await ws.mark("start");
    await one.writeFile({ path: "a.txt", content: "x\n" });
    const { text } = await one.call("changes_since", { since: "start", by: "all" });
    expect(text).toMatch(/^a\.txt new: by you \(write_file, just now\)\n/u);
  });

  test.each([
    ["UTF-16", (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"))],
    ["Latin-1", (text: string) => new Uint8Array(Buffer.from(text, "latin1"))],
  ])("shows the lines of a file in %s as text", async (_, encode) => {
    const { ws } = await place(kind, { "a.txt": encode("Stra\xdfe 1\nWeg 2\n") }, options);
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    for (const agent of [one, other]) await agent.readFile({ path: "a.txt" });
    await other.editFile({ path: "a.txt", old_text: "Weg", new_text: "Pl\xe4tze" });
    const { text } = await one.call("changes_since", {});
    expect(text).toContain("\n Stra\xdfe 1\n-Weg 2\n+Pl\xe4tze 2");
  });

  test.each(["\r", "\u2028", "\u2029"])("cuts no hunk at a line end of the content, %j", async (end) => {
    const { ws } = await place(kind, { "a.txt": lines(30) }, options);
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    await ws.mark("start");
    const new_text = `fourth${end}@@ -1,1 +900,1 @@${end}${"\nsome more words".repeat(300)}`;
    await other.readFile({ path: "a.txt" });
    await other.editFile({ path: "a.txt", old_text: "line 4\n", new_text });
    const { data } = await one.call("changes_since", { since: "start", max_tokens: 300 });
    const [file] = (data as { files: readonly { first_line: number; shown?: string }[] }).files;
    expect(file?.shown).toBeUndefined();
    expect(file?.first_line).toBe(1);
  });
});

describe("changes_since", () => {
  test("is offered to models only with knows", async () => {
    for (const knows of [true, false]) {
      const { ws } = await place("memory", {}, { knows });
      expect(ws.tools.some(({ name }) => name === "changes_since")).toBe(knows);
    }
  });

  test("counts the changed files that do not fit, and names a few that cannot be read", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `file-number-${n + 100}.txt`);
    const { ws } = await place("memory", {}, options);
    await ws.mark("start");
    const other = await ws.agent("B");
    for (const path of names) await other.writeFile({ path, content: "x\n" });
    const { text, data } = await ws.call("changes_since", { since: "start", max_tokens: 300 });
    const { files, left_out } = data as { files: readonly object[]; left_out: number };
    expect(files.length).toBeGreaterThan(0);
    expect(files.length + left_out).toBe(40);
    expect(text).toContain(`[${left_out} more files; give a path below, or a larger max_tokens]`);
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${"secretbytes".repeat(6)}\n`;
    const held = await place("local", Object.fromEntries(names.map((path) => [path, "x\n"])), options);
    for (const path of names) {
      await held.ws.readFile({ path });
      await held.foreign(path, key);
    }
    const unread = await held.ws.call("changes_since", {});
    expect(unread.text).toMatch(
      /\[not known, as it could not be read: (?:file-number-1\d\d\.txt, ){4}\S+ and 35 more\]$/u,
    );
  });

  test("does not count a line as read that it has cut", async () => {
    const { ws, foreign } = await place("memory", { "a.txt": lines(3) }, options);
    await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", lines(3, { 2: `long ${"x".repeat(600)}` }));
    expect((await ws.call("changes_since", {})).text).toContain("xxx…");
    const edited = await ws.call("edit_file", { path: "a.txt", old_text: "long", new_text: "" });
    expect(edited.error?.code).toBe("CONFLICT");
  });

  test("names the nearest mark", async () => {
    const { ws } = await place("memory", {}, options);
    await ws.mark("start");
    const { error } = await ws.call("changes_since", { since: "strat" });
    expect(error?.message).toContain("did you mean 'start'?");
  });

  test("names a file that is not text without its content", async () => {
    const { ws, foreign } = await place("local", { "a.txt": lines(3) }, options);
    await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", "\u0000\u0001\u0002".repeat(100));
    const { text } = await ws.call("changes_since", {});
    expect(text).toMatch(
      /^a\.txt changed: by another program\n\[the rest is not shown; see it with read_file/u,
    );
  });
});
