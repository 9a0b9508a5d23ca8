/** The states in which a change is shown: its hunks, its files, and content that is no text. */
import type { ChangeRows, ChangeSummary, ReviewQuestion } from "../../../../js/review/protocol.ts";
import { EMPTY_STATE } from "../../../../js/review/state.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";
import { CALLS, DIRECTORY, EDIT, PATCH, QUESTION, READY, ROWS } from "./samples.ts";

/** Returns a state in which one question waits and shows these rows. */
function showing(
  question: Partial<ReviewQuestion & { readonly kind: "change" }>,
  ...pages: readonly ChangeRows[]
): PageState {
  const one = { ...QUESTION, ...question } as ReviewQuestion;
  const review = { ...EMPTY_STATE, waiting: [one], calls: CALLS };
  return { ...READY, review, rows: new Map([[one.id, { pages, isComplete: true }]]) };
}

/** Returns the rows of a change with one hunk. */
function oneHunk(change: Partial<ChangeSummary>, lines: readonly string[]): ChangeRows {
  const count = (marks: string): number => lines.filter((line) => marks.includes(line[0] ?? "")).length;
  const hunk = {
    oldStart: 1,
    oldLines: count(" -"),
    newStart: 1,
    newLines: count(" +"),
    lines: lines.join("\n"),
  };
  const counted = { added: count("+"), removed: count("-"), hunks: 1 };
  return { ...ROWS, change: { ...EDIT, ...counted, ...change }, hunks: [hunk] };
}

const PATCH_ROWS: readonly ChangeRows[] = PATCH.changes.map((change, index) => ({
  digest: PATCH.digest,
  change,
  from: 0,
  details: [],
  hunks:
    change.hunks === 0
      ? []
      : [
          {
            oldStart: index === 0 ? 4 : 0,
            oldLines: index === 0 ? 3 : 0,
            newStart: index === 0 ? 4 : 1,
            newLines: 2,
            lines:
              index === 0 ? " a\n-b\n+c\n d" : "+export type Money = number;\n+export const NONE: Money = 0;",
          },
        ],
}));

/** Rows in which the server has hidden three values. */
const HIDDEN_ROWS: ChangeRows = {
  ...oneHunk({ path: "/repo/deploy.ini" }, [
    " # Written by deploy",
    "-DB_PASSWORD=\uFDD0",
    "+DB_PASSWORD=\uFDD1",
    "+PAYMENT_KEY=\uFDD2",
    " DB_HOST=db.example",
  ]),
  hidden: 3,
};
const SHOWN_ROWS = oneHunk({ path: "/repo/deploy.ini" }, [
  " # Written by deploy",
  "-DB_PASSWORD=an old one",
  "+DB_PASSWORD=a new one that is longer",
  " DB_HOST=db.example",
]);

/** An image that is replaced by another one. */
const IMAGE: ChangeSummary = {
  path: "/repo/logo.png",
  kind: "edit",
  type: "file",
  added: 0,
  removed: 0,
  hunks: 0,
  whole: true,
  hasText: false,
  images: ["before", "after"],
};

/** The states by their names. */
export const CHANGE_STATES: Readonly<Record<string, PageState>> = {
  "hidden-secrets": showing({}, HIDDEN_ROWS),
  "shown-secrets": {
    ...READY,
    rows: new Map([[QUESTION.id, { pages: [SHOWN_ROWS], isComplete: true, isShown: true }]]),
  },
  "some-hunks": { ...READY, leftOut: new Map([[QUESTION.id, new Map([["0:1", "all"]])]]), hunk: 1 },
  "some-lines": {
    ...READY,
    leftOut: new Map([[QUESTION.id, new Map([["0:0", new Set([4])]])]]),
    hunk: 0,
    line: 3,
  },
  "several-files": {
    ...READY,
    chosen: PATCH.id,
    rows: new Map([[PATCH.id, { pages: PATCH_ROWS, isComplete: true }]]),
  },
  "some-files": {
    ...READY,
    chosen: PATCH.id,
    rows: new Map([[PATCH.id, { pages: PATCH_ROWS, isComplete: true }]]),
    leftOut: new Map([[PATCH.id, new Map([["1", "all"]])]]),
    hunk: 2,
  },
  directory: { ...READY, chosen: DIRECTORY.id },
  loading: { ...READY, rows: new Map() },
  "not-loaded": {
    ...READY,
    rows: new Map([[QUESTION.id, { pages: [], isComplete: false, failure: "the server answered 503" }]]),
  },
  incomplete: showing(
    { incomplete: "the new content has 80 MB", hasParts: false },
    oneHunk({}, ["-a", "+b"]),
  ),
  "line-ends": showing({ hasParts: false }, oneHunk({ only: "line ends" }, ["-one\r", "+one"])),
  images: showing(
    { title: "Write logo.png", tool: "write_file", hasParts: false, changes: [IMAGE] },
    {
      ...ROWS,
      change: IMAGE,
      hunks: [],
      details: [
        "before: image/png, 68 bytes, sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "after: image/png, 70 bytes, sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
      ],
    },
  ),
  binary: showing(
    { title: "Write logo.png", tool: "write_file", hasParts: false },
    {
      ...ROWS,
      change: { ...EDIT, path: "/repo/logo.png", kind: "create", added: 0, removed: 0, hunks: 0 },
      hunks: [],
      details: [
        "  00000000  89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52  .PNG........IHDR",
        "  00000010  00 00 00 01 00 00 00 01 08 06 00 00 00 1f 15 c4  ................",
      ],
    },
  ),
  crlf: showing({ hasParts: false }, oneHunk({}, [" one\r", "-two\r", "+2\r", " three\r"])),
  "long-line": showing({ hasParts: false }, oneHunk({}, ["-short", `+${"const x = 1; ".repeat(400)}`])),
  arguments: showing(
    { title: "Run npm install", tool: "run_command", risk: "high", hasParts: false },
    {
      ...ROWS,
      change: { ...EDIT, path: "/repo", type: "dir", added: 0, removed: 0, hunks: 0 },
      hunks: [],
      details: ["  command: npm install --save left-pad", "  timeout: 60"],
    },
  ),
  hostile: showing(
    {
      title: "Edit </script><script>alert(1)</script>\u202egpj.exe",
      agent: "<img src=x onerror=alert(1)>",
      risk: "high",
      hasParts: false,
      changes: [{ ...EDIT, path: "/repo/\u202etxt.<b>exe</b>\u200b" }],
    },
    oneHunk({ path: "/repo/\u202etxt.<b>exe</b>\u200b" }, [
      " // </script><script>alert(1)</script>",
      "-if (isAdmin) {",
      "+if (isAdmin\u202e \u2066// check\u2069 \u2066) {",
      "+\u0007bell \u001b[31mred\u001b[0m zero\u200bwidth nul\u0000",
      "+lone \ud800 surrogate",
    ]),
  ),
};
