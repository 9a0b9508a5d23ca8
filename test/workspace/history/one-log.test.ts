/** Both engines of the log, records in a store and the history of a storage: one answer, one preview. */
import { describe, expect, test } from "vitest";
import {
  type Confirm,
  MemoryBackend,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { leanPreset } from "../../../js/presets/lean.ts";
import { memoryStorage, type Storage } from "../../../js/storage/index.ts";

const FILES = { "/ws/a.txt": "one\n", "/ws/dir/b.txt": "b\n" };

async function storage(): Promise<Storage> {
  const made = memoryStorage();
  const body = (text: string) => new TextEncoder().encode(text);
  await made.commit(Object.entries(FILES).map(([path, text]) => ({ op: "put", path, body: body(text) })));
  return made;
}

const ENGINES: readonly (readonly [string, () => Promise<WorkspaceOptions>])[] = [
  ["records in a store", async () => ({ backend: new MemoryBackend(FILES) })],
  ["the history of a storage", async () => ({ storage: await storage() })],
];

/** Opens a workspace whose questions are kept, and answered with yes. */
async function open(
  options: WorkspaceOptions,
): Promise<{ readonly ws: Workspace; readonly asked: Parameters<Confirm>[0][] }> {
  const asked: Parameters<Confirm>[0][] = [];
  const ws = await openWorkspace({
    ...options,
    root: "/ws",
    preset: leanPreset(),
    confirm: (details) => {
      asked.push(details);
      return { outcome: "proceed_once" };
    },
  });
  return { ws, asked };
}

/** Returns the id of the last change. */
async function lastId(ws: Workspace): Promise<string> {
  return (await ws.history())[0]?.callId as string;
}

async function write(ws: Workspace): Promise<string> {
  await ws.writeFile({ path: "a.txt", content: "two\n", whole_file: true });
  return lastId(ws);
}

describe.each(ENGINES)("over %s", (_, make) => {
  test("each way back refuses an unknown call in the same words", async () => {
    const { ws } = await open(await make());
    const id = "0mf3k2p9a-1b2c3d4e5f60";
    for (const way of ["undo", "rewind", "changes", "keep"] as const)
      await expect(ws[way](id)).rejects.toMatchObject({
        code: "NOT_FOUND",
        message: expect.stringContaining(`There is no call '${id}' in the history.`),
      });
    await ws.close();
  });

  test("the question about an undo shows what that about a rewind shows", async () => {
    const { ws, asked } = await open(await make());
    const id = await write(ws);
    await ws.call("undo", { call_id: id });
    await ws.undo(await lastId(ws));
    await ws.rewind(id, { paths: ["a.txt"] });
    const [, undo, rewind] = asked;
    expect(undo?.fileDiff).toBe(rewind?.fileDiff);
    expect(undo?.changes).toEqual(rewind?.changes);
    await ws.close();
  });

  test("an undo that brings an entry back without its directory is shown over a storage, else refused unasked", async () => {
    const { ws, asked } = await open(await make());
    await ws.delete({ path: "dir/b.txt" });
    const id = await lastId(ws);
    await ws.delete({ path: "dir", recursive: true });
    const before = asked.length;
    const { ok, error } = await ws.call("undo", { call_id: id });
    const shown = asked.slice(before).map(({ changes }) => changes?.map(({ path, kind }) => [path, kind]));
    const isMade = ws.capabilities().journal === "storage";
    expect([ok, error?.code]).toEqual(isMade ? [true, undefined] : [false, "CONFLICT"]);
    // Asked again where the directory was taken to be there.
    expect(shown.slice(-1)).toEqual(isMade ? [[["/ws/dir/b.txt", "create"]]] : []);
    await ws.close();
  });
});

test("a commit of more paths than can be undone is refused as a call that is too large", async () => {
  const many = await storage();
  const history = many.history?.bind(many);
  many.history = async (request) =>
    (await history?.(request))?.map((past) => ({ ...past, count: 5001 })) ?? [];
  const { ws } = await open({ storage: many });
  await ws.writeFile({ path: "a.txt", content: "two\n", whole_file: true });
  const id = (await ws.history({ unrecorded: true }))[0]?.callId as string;
  for (const way of ["undo", "rewind", "changes"] as const)
    await expect(ws[way](id)).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
      message: expect.stringContaining(
        "of one call the history keeps at most 5,000 paths, and it was larger",
      ),
    });
  expect(await ws.history()).toEqual([]);
  // Its states are in the history all the same.
  expect((await ws.blame("a.txt")).lines).toMatchObject([{ origin: "call", callId: id }]);
  await ws.close();
});
