/** Text that looks like a secret is hidden in everything that the page loads, until it asks for it. */
import { expect, it } from "vitest";
import type { CallBegin, Confirmation } from "../../../js/index.node.ts";
import type { RowsPage } from "../../../js/review/past/history-protocol.ts";
import type { ChangeRows, FileLines, FoundPlaces, ReviewSnapshot } from "../../../js/review/protocol.ts";
import { compareWithSeen } from "../../../js/review/page/state/seen.ts";
import { type Client, firstQuestion, logIn, openPlace, type Place } from "../place.ts";

/** The characters that replace values of less than 16, less than 40, and more characters. */
const [SHORT, MIDDLE, LONG] = ["\uFDD0", "\uFDD1", "\uFDD2"] as const;
const GITHUB = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const KEY_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

/** Asks about a change and returns its rows as a page gets them. */
async function rowsOf(
  place: Place,
  path: string,
  content: string,
): Promise<{
  readonly rows: ChangeRows;
  readonly shown: ChangeRows;
  readonly client: Client;
  readonly id: string;
}> {
  const call = place.ws.call("write_file", { path, content, whole_file: true });
  const id = await Promise.race([
    firstQuestion(place.hub),
    call.then(({ text }) => Promise.reject(new Error(text))),
  ]);
  const client = await logIn(place.page, "watch");
  const address = `approvals/${id}/changes/0`;
  const rows = (await (await client.get(address)).json()) as ChangeRows;
  const shown = (await (await client.get(`${address}?secrets=shown`)).json()) as ChangeRows;
  place.hub.queue.answer(id, { outcome: "cancel", payload: {} });
  await call;
  return { rows, shown, client, id };
}

const linesOf = ({ hunks }: ChangeRows): readonly string[] => hunks.flatMap(({ lines }) => lines.split("\n"));

it.each([
  ["AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", `AWS_ACCESS_KEY_ID=${MIDDLE}`],
  ["AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", `AWS_SECRET_ACCESS_KEY=${LONG}`],
  ["DB_PASSWORD=hunter", `DB_PASSWORD=${SHORT}`],
  ["DB_PASSWORD=hunter2 # of the test", `DB_PASSWORD=${SHORT} # of the test`],
  ["export TOKEN=abcdef123456789", `export TOKEN=${SHORT}`],
  ["  password: hunter2", `  password: ${SHORT}`],
  ['  "password": "hunter2",', `  "password": "${SHORT}",`],
  ['{\\"password\\": \\"hunter2\\"}', `{\\"password\\": \\"${SHORT}\\"}`],
  ["const password: string = 'correct-horse';", `const password: string = '${SHORT}';`],
  ['let token: &str = "abcdefgh12345678";', `let token: &str = "${MIDDLE}";`],
  [`const t = "${GITHUB}";`, `const t = "${LONG}";`],
  ["  // xoxb-123456789012-abcdefghijkl", `  // ${MIDDLE}`],
  ['key("sk-live-4242424242424242424242")', `key("${MIDDLE}")`],
  ["postgres://me:s3cr3t@db.example/x", `postgres://me:${SHORT}@db.example/x`],
  [`git clone https://me:${GITHUB}@github.com/a/b`, `git clone https://me:${LONG}@github.com/a/b`],
  ["Authorization: Bearer abcdefgh1234567890", `Authorization: Bearer ${MIDDLE}`],
  ["mysql --password=hunter2 -e x", `mysql --password=${SHORT} -e x`],
  ["deploy --token abcdef123456789 --dry-run", `deploy --token ${SHORT} --dry-run`],
  [
    `"-----BEGIN PRIVATE KEY-----\\n${KEY_LINE}\\n-----END PRIVATE KEY-----"`,
    `"-----BEGIN PRIVATE KEY-----${LONG}-----END PRIVATE KEY-----"`,
  ],
])("hides the secret in %j", async (line, expected) => {
  const { rows, shown } = await rowsOf(await openPlace(), "a.txt", `${line}\n`);
  expect(linesOf(rows)).toEqual([`+${expected}`]);
  expect(rows.hidden).toBe(1);
  expect(linesOf(shown)).toEqual([`+${line}`]);
  expect(shown.hidden).toBeUndefined();
});

it("leaves ordinary code as it is", async () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the lines are code.
  const code = [
    "const token = parser.next();",
    "const secret = `${left}${right()}`;",
    'const secret = "${evil()}";',
    'if (token === "abcdefgh123456789") return tokens[1];',
    "interface Login { password: string; token: AccessToken }",
    "  password: string",
    "  password=password,",
    "password = getPassword()",
    "password = settings.PASSWORD",
    'password: "Password",',
    'password: "Please enter your password",',
    '<input type="password" name="password">',
    'tokenizer: "gpt2-large-1234",',
    "max_tokens: 4096",
    "api_key: process.env.API_KEY",
    'api_key: "<your key>"',
    "secretName: app-tls-1",
    ".sk-folding-cube-animation-delay {}",
    "sha256: 9f31c2d07ab14be59f31c2d07ab14be59f31c2d07ab14be59f31c2d07ab14be5",
    "http://localhost:8080/a@b",
    "-----BEGIN PUBLIC KEY-----",
    "a".repeat(64),
  ];
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the lines are code.
  const { rows } = await rowsOf(await openPlace(), "a.txt", `${code.join("\n")}\n`);
  expect(linesOf(rows)).toEqual(code.map((line) => `+${line}`));
  expect(rows.hidden).toBeUndefined();
});

it("hides the digits of a key in a hunk, also where its ends are not there, and no line of code", async () => {
  const key = (lines: readonly string[]): string =>
    [
      "// Of a test.",
      "-----BEGIN RSA PRIVATE KEY-----",
      ...lines,
      "-----END RSA PRIVATE KEY-----",
      "done();",
      "",
    ].join("\n");
  const digits = (from: string): string => `${from}${KEY_LINE}`.slice(0, 64);
  const before = [..."abcdefghijkl"].map(digits);
  const place = await openPlace({ "key.ts": key(before) });
  const middle = await rowsOf(place, "key.ts", key(before.with(6, digits("z"))));
  expect(linesOf(middle.rows)).toEqual([
    ...Array<string>(3).fill(` ${LONG}`),
    `-${LONG}`,
    `+${LONG}`,
    ...Array<string>(3).fill(` ${LONG}`),
  ]);
  expect(middle.rows.hidden).toBe(1);
  const end = await rowsOf(place, "key.ts", key([...before.slice(0, -1), "AAAA", "run(x)", "AAAA"]));
  expect(linesOf(end.rows).slice(-6)).toEqual([
    `-${LONG}`,
    `+${SHORT}`,
    "+run(x)",
    "+AAAA",
    " -----END RSA PRIVATE KEY-----",
    " done();",
  ]);
  const below = await rowsOf(place, "a.py", 'password = \\\n    "hunter2"\n');
  expect(linesOf(below.rows)).toEqual(["+password = \\", `+    "${SHORT}"`]);
});

it("hides a value that is changed on a line below its name, before and after the change", async () => {
  const place = await openPlace({ "a.ts": 'const password =\n  "hunter2";\n' });
  const { rows } = await rowsOf(place, "a.ts", 'const password =\n  "hunter3";\n');
  expect(linesOf(rows)).toEqual([" const password =", `-  "${SHORT}";`, `+  "${SHORT}";`]);
});

it("tells a change of a hidden value from none when the call is planned again", async () => {
  const place = await openPlace();
  const [one, same, other] = [
    await rowsOf(place, "a.ini", "PASSWORD=hunter2\n"),
    await rowsOf(place, "a.ini", "PASSWORD=hunter2\n"),
    await rowsOf(place, "a.ini", "PASSWORD=hunter3\n"),
  ];
  expect(linesOf(other.rows)).toEqual(linesOf(one.rows));
  expect([...compareWithSeen([same.rows], [one.rows]).news]).toEqual([]);
  expect([...compareWithSeen([same.shown], [one.rows]).news]).toEqual([]);
  expect([...compareWithSeen([other.rows], [one.rows]).news]).toEqual([["0:0", "new"]]);
});

it("hides secrets in the timeline, in versions, in files and in what a search finds, and keeps the digest", async () => {
  const place = await openPlace({ "a.ini": "PASSWORD=hunter1\n" });
  const call = place.ws.call("write_file", {
    path: "a.ini",
    content: "PASSWORD=hunter2\n",
    whole_file: true,
  });
  const id = await firstQuestion(place.hub);
  const client = await logIn(place.page, "manage");
  const rows = (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
  const allowed = await client.post(`approvals/${id}`, { outcome: "allow", digest: rows.digest });
  expect(allowed.status).toBe(200);
  await call;
  expect(await place.backend.readText("/w/a.ini")).toBe("PASSWORD=hunter2\n");
  const [entry] = await place.ws.history();
  const callId = entry?.callId ?? "";
  const preview = (await (await client.post("rewind", { to: callId, dryRun: true })).json()) as {
    readonly digest: string;
  };
  for (const path of [
    `history/${callId}/rows?`,
    `files/compare?path=a.ini&before=before:${callId}&after=now&`,
    `previews/rows?digest=${encodeURIComponent(preview.digest)}&`,
    "files?path=a.ini&",
  ]) {
    const hidden = await (await client.get(path)).text();
    expect(hidden, path).toContain(SHORT);
    expect(hidden, path).not.toContain("hunter");
    const shown = await (await client.get(`${path}secrets=shown`)).text();
    expect(shown, path).toContain("hunter2");
  }
  const [page] = ((await (await client.get(`history/${callId}/rows`)).json()) as RowsPage).pages;
  expect(page?.hidden).toBe(2);
  expect(((await (await client.get("files?path=a.ini")).json()) as FileLines).hidden).toBe(1);
  const found = (await (
    await client.post("search", { kind: "text", query: "PASSWORD" })
  ).json()) as FoundPlaces;
  expect(found.places.map(({ text }) => text)).toEqual([`PASSWORD=${SHORT}`]);
});

/** Returns the question about a command, which changes nothing that could be shown. */
function commandQuestion(title: string): Confirmation {
  return {
    type: "edit",
    title,
    tool: "run_command",
    fileName: "w",
    fileDiff: "",
    originalContent: null,
    newContent: null,
    path: "/w",
    paths: ["/w"],
    risk: "high",
    scopes: [
      { outcome: "proceed_once", label: "once" },
      { outcome: "cancel", label: "refuse" },
    ],
    changes: [],
  } as unknown as Confirmation;
}

it("hides the secret of a command in the title of its question, and shows it in a detail when asked", async () => {
  const place = await openPlace();
  const title = "Run curl -H Authorization: Bearer abcdefgh1234567890";
  const asked = Promise.resolve(place.hub.confirm(commandQuestion(title)));
  const client = await logIn(place.page, "watch");
  const id = await firstQuestion(place.hub);
  const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
  expect(state.waiting[0]?.title).toBe(`Run curl -H Authorization: Bearer ${MIDDLE}`);
  const shown = (await (await client.get(`approvals/${id}/changes/0?secrets=shown`)).json()) as ChangeRows;
  expect(shown.details).toEqual([title]);
  place.hub.queue.close();
  await asked;
});

it("hides secrets in the message of a failed call, as the list of calls shows it", async () => {
  const place = await openPlace();
  const at = Date.now();
  const call = { id: "1", tool: "edit_file", at };
  place.hub.observer.begin?.(call as CallBegin);
  const message = `old_text is not there; the nearest line is token: '${GITHUB}'`;
  place.hub.observer.end?.({
    ...call,
    ok: false,
    code: "NO_MATCH",
    message,
    paths: [],
    duration_ms: 1,
  } as never);
  const { state } = place.hub.snapshot({ role: "watch", by: "" });
  expect(state.calls[0]?.message).toBe(message.replace(GITHUB, LONG));
});

it("takes linear time for hostile texts", async () => {
  const place = await openPlace();
  const client = await logIn(place.page, "watch");
  for (const part of [
    "password=",
    'password="',
    "://a:",
    "eyJ-",
    "--password ",
    "token: str ",
    "-----BEGIN PRIVATE KEY-----",
    "A",
  ]) {
    const call = (path: string, length: number) =>
      place.ws.call("write_file", { path, content: part.repeat(length / part.length), whole_file: true });
    const asked = call("a.txt", 1024 * 1024);
    const id = await firstQuestion(place.hub);
    const start = performance.now();
    expect((await client.get(`approvals/${id}/changes/0`)).status, part).toBe(200);
    // A quadratic pattern takes minutes.
    expect(performance.now() - start, part).toBeLessThan(10_000);
    place.hub.queue.answer(id, { outcome: "cancel", payload: {} });
    await asked;
  }
});
