/** Every function of the engine gives the same on both engines: values, bytes and refusals. */
import { expect, it } from "vitest";
import { type Engine, makeEngine } from "../../js/engine/engine.ts";
import { makeTextEngine } from "../../js/engine/text/text-engine.ts";
import { both, describeParity, engines, outcome } from "./engines.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const before = "one\r\ntwo\r\nnäh 日本\r\nfour\r\n";
const after = "one\r\n2\r\nnäh 日本\r\nfour\r\nfive";
const patch = [
  ["diff --git a/f b/f", "--- a/f", "+++ b/f", "@@ -1,3 +1,3 @@", " one", "-two", "+2", " näh 日本"],
  ["diff --git a/old b/new", "rename from old", "rename to new"],
  ["--- /dev/null", "+++ b/made", "@@ -0,0 +1 @@", "+made", "\\ No newline at end of file", ""],
]
  .flat()
  .join("\n");
const envelope = "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n*** End Patch\n";
const files = { f: before, old: "moved\n" };
const rules = { cwd: "/w", roots: ["/w"], deny: ["*.key"], protect: true, secrets: true };

/** Cases by function. Each says what it calls by calling it: a list at the end holds that none is missing. */
const cases: Record<string, (engine: Engine) => unknown> = {
  "a hash": (e) => e.sha256(utf8("näh")),
  "a diff": (e) => e.diff(before, after, { oldName: "a b", newName: null, lineEnds: "raw" }),
  "a hash, later": (e) => e.onThreads.sha256(Uint8Array.of(0xff, 10)),
  "two contents as one": (e) => e.joined(Uint8Array.of(0xff), Uint8Array.of(0, 10)),
  "nothing and nothing as one": (e) => e.joined(new Uint8Array(0), new Uint8Array(0)),
  "a diff of bytes": (e) => e.diffAsync(Uint8Array.of(0xff, 10), Uint8Array.of(0xfe, 10)),
  "a diff that is asked for in no way there is": (e) => e.diff("a", "b", { context: 0.5 }),
  words: (e) => e.diffParts("one two 日本", "one 2 日本 näh"),
  characters: (e) => e.diffParts("a😀b", "a😁b", "chars"),
  "an edit": (e) => e.planEdits(before, [{ oldText: "two\nnäh", newText: "2\nnah" }]),
  "an edit in another normal form": (e) =>
    e.planEdits("caf\u00e9 = ﬁne\n", [{ oldText: "cafe\u0301 = fine", newText: "x" }], {
      match: "whitespace",
    }),
  "an edit refused": (e) => e.planEdits(before, [{ oldText: "tow\nnäh 日本", newText: "" }], { path: "f" }),
  "an edit of bytes": (e) => e.planEditsBytes(utf8(before), [{ oldText: "two", newText: "2" }]),
  "an edit of bytes in UTF-16": (e) =>
    e.planEditsBytes(Uint8Array.of(0xff, 0xfe, 97, 0, 10, 0), [{ oldText: "a", newText: "ä" }], {
      encoding: "utf-16",
    }),
  "an edit of bytes, later": (e) => e.planEditsBytesAsync(utf8(before), [{ oldText: "o", newText: "0" }]),
  hunks: (e) => e.hunksBetween(utf8(before), utf8(after)),
  "hunks of UTF-16": (e) =>
    e.hunksBetween(Uint8Array.of(97, 0, 10, 0), Uint8Array.of(98, 0, 10, 10, 0, 10), "utf-16le"),
  "a content after some hunks": (e) => e.composeHunks(utf8(before), utf8(after), [{ hunk: 0 }]),
  "a content after some lines": (e) =>
    e.composeHunks(utf8(before), utf8(after), [{ hunk: 0, rows: [5, 2, 1] }]),
  "a hunk that is not there": (e) => e.composeHunks(utf8(before), utf8(after), [{ hunk: 1 }]),
  "a hunk without lines": (e) => e.composeHunks(utf8(before), utf8(after), [{ hunk: 0, rows: [] }]),
  "a hunk that is no number": (e) => e.composeHunks(utf8(before), utf8(after), [{ hunk: -1 }]),
  "a patch read": (e) => e.parsePatch(patch),
  "a patch read backwards": (e) => e.parsePatch(patch, { reverse: true, strip: 1 }),
  "an envelope read": (e) => e.parsePatch(envelope),
  "no patch": (e) => e.parsePatch("nothing\n"),
  "a patch applied": (e) => e.applyPatch(files, patch),
  "an envelope applied": (e) => e.applyPatch(files, envelope),
  "a patch that does not fit": (e) => e.applyPatch({ ...files, f: "other\n" }, patch),
  "a patch applied, later": (e) => e.applyPatchAsync(new Map(Object.entries(files)), patch, { fuzz: 0 }),
  "a merge": (e) => e.merge3(before, `${before}more\n`, before.replace("one", "1")),
  "a merge with conflicts": (e) =>
    e.merge3(before, after, before.replace("two", "zwei"), { style: "zdiff3", labels: { ours: "wir" } }),
  "a merge in no style there is": (e) => e.merge3("a", "b", "c", { style: "x" as "merge" }),
  "a kind of file": (e) => e.inspect(utf8("%PDF-1.7\n"), { name: "a.txt" }),
  "a page": (e) => e.readPage(utf8(before), { startLine: 2, maxLines: 2, anchors: true }, "a.md"),
  "a page refused": (e) => e.readPage(Uint8Array.of(0, 1, 2, 3), {}),
  "a page, later": (e) => e.reading.readPage(utf8(before), { maxLineChars: 2 }),
  "line hashes": (e) => Promise.all([utf8(before), utf8("a\0b\n")].map((one) => e.reading.lineHashes(one))),
  "bytes as text": (e) => e.decodeText(Uint8Array.of(0xff, 0xfe, 0x61, 0)),
  "bytes that are no text": (e) => e.decodeText(Uint8Array.of(0xff, 0xfe, 97, 0, 0x3d), "utf-16"),
  "text as bytes": (e) => e.encodeText("é", "latin1"),
  "text that has no bytes": (e) => e.encodeText("日", "latin1"),
  anchors: (e) => e.lineAnchors(before),
  globs: (e) => {
    const globs = e.glob(["src/**", "!*.md", "{a,b}?.ts"], { exclude: ["**/x/"], caseSensitive: false });
    return ["src/a", "SRC/x/y", "a1.ts", "r.md"].map((path) => [globs.matches(path), globs.excluded(path)]);
  },
  "a glob refused": (e) => e.glob("a["),
  matches: (e) => e.grepText(before, { pattern: "n.h|f(our)", context: 1 }),
  "matches, later": (e) => e.grepTextAsync(utf8(before), { pattern: "two|four", maxPerFile: 1 }),
  "contents that can match": (e) => {
    const held = e.heldIndex();
    const texts = ["needle in a haystack\n".repeat(40), "straw\n".repeat(40), "a\0b", ""];
    const numbers = texts.map((text) => held.sign(utf8(text)));
    const sets = ["needle", "straw|hay", "nowhere", "."].map((pattern) => {
      const set = held.candidates(e.compileQuery({ pattern }));
      // Of a set only what it does not let through is promised.
      return set === undefined
        ? "all"
        : numbers.map((code) => code >= 0 && (set[code >> 3]! >> (code & 7)) & 1);
    });
    return [numbers, sets, held.bytes() > 0];
  },
  "several patterns": (e) => {
    const query = e.compileQuery({ patterns: ["ONE", "日.", "o"], case: "insensitive" });
    return [query.search(utf8(before), { maxLineChars: 3 }), query.count(utf8(before))];
  },
  "a query that no worker is there for": (e) => e.sentQuery({ pattern: "\\w{9}" }),
  "a pattern refused": (e) => e.compileQuery({ pattern: "a{2,1}" }),
  "paths ranked": (e) =>
    e.ranking.paths("usbhb", ["drivers/usb/hub.c", "fs/inode.c", "usb/näh.c"], { limit: 2 }),
  "nothing to rank by": (e) => e.ranking.paths("", ["a"]),
  "code ranked": (e) => {
    const ranking = e.ranking.code({ query: "closes sessions with a reason", limit: 2 });
    const texts = ["def close_session(reason):\n    pass\n", "a\0b", "session = 1\n", "# reasons\n"].map(
      utf8,
    );
    const added = texts.map((content, at) => ranking.add(0, `${at}.${at === 3 ? "md" : "py"}`, content));
    const counted = e.ranking.counted();
    const numbers = texts.map((content, at) => counted.add(`known/${at}.py`, content));
    const known = [...numbers, 99].map((number) => ranking.addKnown(1, counted, number));
    const shown = [0, 1, 2].map((at) => ranking.show(at, texts[0]!));
    return [added, numbers, counted.bytes() > 0, known, ranking.rank(), shown];
  },
  "code ranked by no word": (e) => e.ranking.code({ query: "?" }),
  "what is ignored": (e) => {
    const deep = e.ignoreRules().enter("", [{ place: 0, content: utf8("/a\n!b\n*.o\n") }], true);
    return ["a", "x/a", "x.o", "b"].map((path) => deep.ignored(path, false));
  },
  "what is denied": (e) => {
    const compiled = e.compileRules(rules);
    return ["/w/a.key", "/w/.GIT/hooks/x", "/w/cafe\u0301", "/x"].map((path) => compiled.check(path));
  },
  "what is denied in any letter case": (e) =>
    ["/w/A.KEY", "/w/a.key"].map((path) => e.compileRules({ ...rules, foldCase: true }).check(path)),
  "a path on a Windows disk": (e) =>
    ["src\\a.ts", "c:\\REPO\\näh", "/C:/repo/.", "..\\x"].map(
      e.windows.paths({ cwd: "/C:/repo", roots: ["/C:/repo", "/"] }),
    ),
  "a path on a Windows disk refused": (e) => e.windows.paths({ cwd: "/C:/repo", roots: [] })("ENV~1"),
  "paths on a Windows disk without a drive": (e) => e.windows.paths({ cwd: "/repo", roots: [] }),
  "a root on a Windows disk": (e) => e.windows.root("repo", "/C:/"),
  "a root of the network": (e) => e.windows.root("\\\\server\\share", "/C:/"),
  "globs that can match nothing": (e) =>
    ["/w/a", "/vault", "~/a", " a", "a\u200b", "file:///w/a"].flatMap((glob) =>
      [true, false].map((isPlace) => e.compileRules({ ...rules, roots: ["/w"] }).objection(glob, isPlace)),
    ),
  "the table of places": (e) => e.placeTable(),
  "the path in a file of git": (e) =>
    [
      "gitdir: ../a\\xC3b \r\n",
      "gitdir: \n",
      "gitdir: a\nb",
      "gitdir: a\0b",
      `gitdir: ${"x".repeat(8192)}`,
      "../..\n",
    ].flatMap((text) => ["gitdir: ", ""].map((key) => e.gitPathIn(utf8(text), key))),
  "what holds a key": (e) =>
    ["-----BEGIN PRIVATE KEY-----\nMII\n", "# a guide\n"].map((text) => e.holdsSecretContent(utf8(text))),
};

describeParity("every function is the same on both engines", () => {
  const called = new Set<string>();
  const noting = (engine: Engine): Engine =>
    new Proxy(engine, {
      get(target, name, receiver) {
        called.add(String(name));
        return Reflect.get(target, name, receiver) as unknown;
      },
    });

  it.each(Object.entries(cases))("%s", async (_, call) => {
    const { native, wasm } = await both((engine) => call(noting(engine)));
    expect(wasm).toEqual(native);
  });

  it("and none is missing here", () => {
    const engine = makeEngine({} as Parameters<typeof makeEngine>[0], { kind: "native" });
    const names = Object.keys(engine).filter((name) => name !== "info");
    expect(names.filter((name) => !called.has(name))).toEqual([]);
  });

  it("the small module has what it promises, and says the same", async () => {
    const { native, small } = engines as NonNullable<typeof engines>;
    const promised = makeTextEngine({} as Parameters<typeof makeTextEngine>[0], { kind: "wasm" });
    const has = (name: string) => name in promised;
    for (const [name, call] of Object.entries(cases)) {
      const used = new Set<string>();
      const asked = new Proxy(native, {
        get: (target, key, receiver) => {
          used.add(String(key));
          return Reflect.get(target, key, receiver) as unknown;
        },
      });
      const expected = await outcome(() => call(asked));
      if ([...used].every(has)) expect(await outcome(() => call(small as Engine)), name).toEqual(expected);
    }
  });
});
