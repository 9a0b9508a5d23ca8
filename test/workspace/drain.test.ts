/** A workspace that drains: what runs is finished, what comes is refused. */
import { expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";

/** A workspace whose confirmations wait until they are let go. */
async function waiting() {
  let go = (): void => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let asked = 0;
  const ws = await openWorkspace({
    backend: new MemoryBackend({ "/ws/a.txt": "a" }),
    root: "/ws",
    confirm: async () => {
      asked += 1;
      await held;
      return { outcome: "proceed_once" };
    },
  });
  return { ws, go: () => go(), asked: () => asked };
}

const REFUSAL = { ok: false, error: { code: "CANCELLED", details: { reason: "shutting_down" } } };

test("a workspace that drains finishes a running batch and refuses every new call", async () => {
  const { ws, go, asked } = await waiting();
  const operations = ["b", "c", "d"].map((name) => ({
    tool: "write_file",
    args: { path: name, content: name },
  }));
  const running = ws.call("batch", { operations });
  await expect.poll(asked).toBeGreaterThan(0);
  let drained = false;
  const draining = ws.drain().then(() => {
    drained = true;
  });
  expect(await ws.call("read_file", { path: "a.txt" })).toMatchObject(REFUSAL);
  expect(await ws.call("write_file", { path: "e", content: "e" })).toMatchObject(REFUSAL);
  const read = ws.tools.find(({ name }) => name === "read_file");
  expect(await read?.execute({ path: "a.txt" })).toMatchObject(REFUSAL);
  await expect(ws.readFile({ path: "a.txt" })).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(ws.undo("x")).rejects.toMatchObject({
    code: "CANCELLED",
    details: { reason: "shutting_down" },
  });
  expect(drained).toBe(false);
  go();
  expect((await running).ok).toBe(true);
  await draining;
  for (const name of ["b", "c", "d"]) expect(await ws.fs.readText(`/ws/${name}`)).toBe(name);
  expect(await ws.fs.exists("/ws/e")).toBe(false);
  await ws.close();
  expect(await ws.call("read_file", { path: "a.txt" })).toMatchObject({
    error: { code: "UNSUPPORTED_OPERATION" },
  });
});

test("a workspace under a preset's names refuses too, and drains at once when nothing runs", async () => {
  const ws = await openWorkspace({
    backend: new MemoryBackend({ "/ws/a": "a" }),
    root: "/ws",
    preset: "claude",
  });
  await ws.drain();
  expect(await ws.call("Read", { file_path: "/ws/a" })).toMatchObject(REFUSAL);
  await ws.close();
});

test("the calls of agents count for the workspace, and an agent drains alone", async () => {
  const { ws, go, asked } = await waiting();
  const [one, other] = [await ws.agent("one"), await ws.agent("other")];
  const running = one.call("write_file", { path: "b", content: "b" });
  await expect.poll(asked).toBe(1);
  const oneDrained = one.drain();
  expect(await one.call("read_file", { path: "a.txt" })).toMatchObject(REFUSAL);
  expect((await other.call("read_file", { path: "a.txt" })).ok).toBe(true);
  expect((await ws.call("read_file", { path: "a.txt" })).ok).toBe(true);
  let drained = false;
  const draining = ws.drain().then(() => {
    drained = true;
  });
  expect(await other.call("read_file", { path: "a.txt" })).toMatchObject(REFUSAL);
  expect(drained).toBe(false);
  go();
  expect((await running).ok).toBe(true);
  await Promise.all([oneDrained, draining]);
  await ws.close();
});
