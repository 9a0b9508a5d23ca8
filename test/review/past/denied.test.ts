/** The page shows nothing of the past that the policy does not let an agent read now. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openWorkspace, type WorkspaceOptions } from "../../../js/index.node.ts";
import { reviewHub, serveReviewPage } from "../../../js/review/index.node.ts";
import type { PastCounts } from "../../../js/review/past/history-protocol.ts";
import { logIn } from "../place.ts";

/** The content of the file that is denied later. */
const PRIVATE = "of-a-private-file";

it.each<readonly [string, Partial<WorkspaceOptions>]>([
  ["a denied glob", { access: { deny: ["private/**"] } }],
  ["a rule", { rules: [{ tool: "*", path: "private/**", decision: "deny" }] }],
  ["a place for secrets", { access: { places: { secret: ["private/*.txt"] } } }],
])("keeps back what was written before %s forbids to read it", async (_, policy) => {
  const directory = await mkdtemp(join(tmpdir(), "filewright-denied-"));
  const [root, stateDir] = [join(directory, "w"), join(directory, "state")];
  await mkdir(join(root, "private"), { recursive: true });
  await writeFile(join(root, "private/a.txt"), `${PRIVATE} 0\n`);
  const before = await openWorkspace({ root, stateDir, guard: "off" });
  for (const number of [1, 2])
    await before.writeFile({ path: "private/a.txt", content: `${PRIVATE} ${number}\n`, whole_file: true });
  await before.close();

  const hub = reviewHub();
  const ws = await openWorkspace({ root, stateDir, guard: "off", ...policy });
  hub.attach(ws);
  const page = await serveReviewPage(hub);
  onTestFinished(async () => {
    hub.close();
    await page.close();
    await ws.close();
    await rm(directory, { recursive: true });
  });
  const client = await logIn(page, "manage");
  const [{ callId: last } = { callId: "" }, { callId: first } = { callId: "" }] = await ws.history();
  const path = encodeURIComponent("private/a.txt");
  for (const address of [
    `history/${first}/rows?secrets=shown`,
    `history/${last}/rows?secrets=shown`,
    `files/compare?path=${path}&before=before:${first}&after=${last}&secrets=shown`,
    `files/compare?path=${path}&before=${first}&after=now&secrets=shown`,
    `files?path=${path}&secrets=shown`,
    `files/blame?path=${path}`,
  ]) {
    const response = await client.get(address);
    expect(response.status, address).toBeLessThan(500);
    expect(await response.text(), address).not.toContain(PRIVATE);
  }
  const found = await client.post("search", { kind: "text", query: PRIVATE });
  expect(await found.json()).toMatchObject({ places: [] });
  // An answer has the calls that could be counted in its time, and none has a number.
  const told = new Set<unknown>();
  const countsOf = async () => {
    const response = await client.get(`history/counts?ids=${first},${last}`);
    const { counts } = (await response.json()) as PastCounts;
    for (const totals of Object.values(counts)) told.add(totals);
    return Object.keys(counts);
  };
  await expect.poll(countsOf).toEqual([first, last]);
  // The next request finds the calls among those that are counted already.
  expect(await countsOf()).toEqual([first, last]);
  expect([...told]).toEqual([null]);
  // Neither the preview of a way back nor its rows.
  for (const [path, body] of [
    ["rewind", { to: first, dryRun: true }],
    [`history/${last}/undo`, { dryRun: true, parts: [{ change: 0, hunks: [0] }] }],
  ] as const) {
    const preview = await client.post(path, body);
    const text = await preview.text();
    expect(preview.status, path).toBeLessThan(500);
    expect(text, path).not.toContain(PRIVATE);
    const { digest = "" } = JSON.parse(text) as { digest?: string };
    const shown = await client.get(`previews/rows?digest=${encodeURIComponent(digest)}&secrets=shown`);
    expect(await shown.text(), path).not.toContain(PRIVATE);
  }
  const rows = await client.get(`history/${first}/rows`);
  expect(await rows.text()).toContain("The policy does not let its content be read.");
});
