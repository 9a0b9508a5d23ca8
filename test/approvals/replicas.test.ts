/** Answers of a client's user: for one request, for ten minutes, at any server that shares the state. */
import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openApprovalState } from "../../js/mcp/protocol/approval-state.ts";
import { type Actor, directory, type Files } from "./places.ts";
import { type Asked, type Replica, replica } from "./replicas.ts";

const running: Replica[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of running.splice(0)) await one.close();
});

/** Servers over one directory, all of them with one state. */
async function servers(files: Files, { count = 1, key }: { count?: number; key?: string } = {}) {
  const { root, stateDir, actor } = await directory(files);
  const start = (state: string | undefined = stateDir): Replica => {
    const one = replica(root, { stateDir: state, key });
    running.push(one);
    return one;
  };
  return { root, stateDir, actor, start, replicas: Array.from({ length: count }, () => start()) };
}

const once = ({ requestState }: Asked) => ({ requestState, decision: "proceed_once" });

describe("an answer over MCP", () => {
  const FILES: Files = { "a.txt": "one\n", "d/f.txt": "of d\n", "d/g.txt": "too\n", "over/f.txt": "old\n" };
  const rows: readonly [
    what: string,
    tool: string,
    args: object,
    meanwhile: (actor: Actor) => Promise<void>,
  ][] = [
    [
      "a delete, a file in its directory changes",
      "delete",
      { path: "d", recursive: true },
      (at) => at.write("d/f.txt", "gone?\n"),
    ],
    [
      "a copy, a file in its directory changes",
      "copy",
      { source: "d", destination: "e" },
      (at) => at.write("d/f.txt", "else\n"),
    ],
    [
      "a move, a file in its directory changes",
      "move",
      { source: "d", destination: "e" },
      (at) => at.write("d/g.txt", "else\n"),
    ],
    [
      "a copy over a directory, what it replaces changes",
      "copy",
      { source: "d", destination: "over", overwrite: true },
      (at) => at.write("over/f.txt", "new\n"),
    ],
    [
      "a delete, a file in its directory takes another's name",
      "delete",
      { path: "d", recursive: true },
      (at) => at.move("d/f.txt", "d/h.txt"),
    ],
  ];
  test.each(rows)("is for what was shown: %s", async (_, tool, args, meanwhile) => {
    const {
      replicas: [server],
      actor,
    } = await servers(FILES);
    const { asked } = await server!.call(tool, args);
    await meanwhile(actor);
    const before = await actor.tree();
    const said = await server!.call(tool, args, once(asked!));
    expect(said).toMatchObject({ isError: true, text: expect.stringContaining("CONFLICT") });
    expect(await actor.tree()).toEqual(before);
  });

  test("makes the change that was shown", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers(FILES);
    for (const [, tool, args] of rows.slice(1, 2)) {
      const { asked } = await server!.call(tool, args);
      expect(asked!.message).toContain("copy file");
      expect(await server!.call(tool, args, once(asked!))).toMatchObject({ isError: false });
    }
    expect((await actor.tree())["e/f.txt"]).toBe("of d\n");
  });

  test("serves one request when it is sent again", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers({});
    const args = { path: "n.txt", content: "x" };
    const { asked } = await server!.call("write_file", args);
    expect((await server!.call("write_file", args, once(asked!))).isError).toBe(false);
    await actor.remove("n.txt");
    const again = await server!.call("write_file", args, once(asked!));
    expect(again).toMatchObject({ isError: true, text: expect.stringContaining("used before") });
    expect(await actor.tree()).toEqual({});
  });

  test("serves one request when two replicas are sent it at once", async () => {
    const { replicas, actor } = await servers({ "log.txt": "" }, { count: 2 });
    const args = { path: "log.txt", content: "x", append: true };
    const { asked } = await replicas[0]!.call("write_file", args);
    const said = await Promise.all(replicas.map((one) => one.call("write_file", args, once(asked!))));
    expect(said.filter(({ isError }) => !isError)).toHaveLength(1);
    expect(await actor.tree()).toEqual({ "log.txt": "x" });
  });

  test.each([
    ["the state directory", undefined],
    ["FILEWRIGHT_KEY", randomBytes(32).toString("hex")],
  ])("holds at another replica that shares %s", async (_, key) => {
    const {
      replicas: [first, second],
      actor,
    } = await servers({}, { count: 2, ...(key === undefined ? {} : { key }) });
    for (const [path, asking, answering] of [
      ["a", first, second],
      ["b", second, first],
    ] as const) {
      const { asked } = await asking!.call("write_file", { path, content: path });
      const said = await answering!.call("write_file", { path, content: path }, once(asked!));
      expect(said).toMatchObject({ isError: false });
      const again = await asking!.call("write_file", { path, content: path }, once(asked!));
      expect(again).toMatchObject({ isError: true });
    }
    expect(await actor.tree()).toEqual({ a: "a", b: "b" });
  });

  test("survives a restart of the server, and so does that it was used", async () => {
    const {
      replicas: [first],
      start,
      actor,
    } = await servers({});
    const args = { path: "n", content: "x" };
    const { asked } = await first!.call("write_file", args);
    await running.shift()!.close();
    const second = start();
    expect((await second.call("write_file", args, once(asked!))).isError).toBe(false);
    await running.shift()!.close();
    await actor.remove("n");
    expect((await start().call("write_file", args, once(asked!))).isError).toBe(true);
    expect(await actor.tree()).toEqual({});
  });

  test("is for no server with another state", async () => {
    const {
      replicas: [first],
      start,
      stateDir,
      actor,
    } = await servers({});
    const args = { path: "n", content: "x" };
    const { asked } = await first!.call("write_file", args);
    const other = start(`${stateDir}-other`);
    expect((await other.call("write_file", args, once(asked!))).protocolError).toContain("expired");
    expect(await actor.tree()).toEqual({});
  });

  test("is too late after ten minutes", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers({});
    const args = { path: "n", content: "x" };
    const { asked } = await server!.call("write_file", args);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    expect((await server!.call("write_file", args, once(asked!))).protocolError).toContain("expired");
    expect(await actor.tree()).toEqual({});
  });

  test("is none where the form did not offer it", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers({});
    const args = { path: "n", content: "x" };
    const { asked } = await server!.call("write_file", args);
    expect(asked!.offered).toEqual(["proceed_once", "cancel"]);
    const { requestState } = asked!;
    const said = await server!.call("write_file", args, { requestState, decision: "proceed_always" });
    expect(said.isError).toBe(true);
    expect(await actor.tree()).toEqual({});
  });

  test("after a refusal is none", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers({});
    const args = { path: "n", content: "x" };
    const { asked } = await server!.call("write_file", args);
    const { requestState } = asked!;
    expect((await server!.call("write_file", args, { requestState, decision: "cancel" })).isError).toBe(true);
    expect((await server!.call("write_file", args, once(asked!))).isError).toBe(true);
    expect(await actor.tree()).toEqual({});
  });

  test("of a batch is about all of its operations, and the batch made once", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers({});
    const args = {
      operations: [
        { tool: "write_file", args: { path: "a", content: "1" } },
        { tool: "edit_file", args: { path: "a", old_text: "1", new_text: "2" } },
      ],
    };
    const asked = (await server!.call("batch", args)).asked!;
    expect((await server!.call("batch", args, once(asked))).isError).toBe(false);
    expect(await actor.tree()).toEqual({ a: "2" });
    await actor.remove("a");
    expect((await server!.call("batch", args, once(asked))).isError).toBe(true);
    expect(await actor.tree()).toEqual({});
  });
});

describe("a question that is too long for its form", () => {
  const long = Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join("");
  test("offers a refusal alone and names a private file with all of it", async () => {
    const {
      replicas: [server],
      actor,
    } = await servers({});
    const args = { path: "long.txt", content: long };
    const { asked } = await server!.call("write_file", args);
    expect(asked!.offered).toEqual(["cancel"]);
    const file = /All of it is in (\S+)/u.exec(asked!.message)![1]!;
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toContain("+line 199");
    expect((await server!.call("write_file", args, once(asked!))).isError).toBe(true);
    expect(await actor.tree()).toEqual({});
  });

  test("has lines that are cut off as well", async () => {
    const {
      replicas: [server],
    } = await servers({});
    const { asked } = await server!.call("write_file", { path: "n", content: "x".repeat(7000) });
    expect(asked!.offered).toEqual(["cancel"]);
  });
});

describe("the state of approvals", () => {
  test.each(["short", "00".repeat(31), "not hex or base64!".repeat(4), "00".repeat(32)])(
    "refuses the key %j without telling it",
    (key) => {
      const open = () => openApprovalState({ stateDir: undefined, key });
      expect(open).toThrow(/FILEWRIGHT_KEY must hold at least 32 random bytes/u);
      expect(open).not.toThrow(key);
    },
  );

  test("takes a key in hex and in base64", () => {
    const bytes = randomBytes(32);
    const keys = ["hex", "base64", "base64url"].map(
      (encoding) => openApprovalState({ stateDir: undefined, key: bytes.toString(encoding as "hex") }).keys,
    );
    expect(keys[1]).toEqual(keys[0]);
    expect(keys[2]).toEqual(keys[0]);
  });

  test("makes one key that its owner alone can read when several processes start at once", async () => {
    const { stateDir } = await directory({});
    const states = Array.from({ length: 5 }, () => openApprovalState({ stateDir, key: undefined }));
    expect(
      new Set(states.map(({ keys }) => keys.map((key) => Buffer.from(key).toString("hex")).join())).size,
    ).toBe(1);
    expect((await stat(join(stateDir, "approvals", "key"))).mode & 0o777).toBe(0o600);
    expect((await readdir(join(stateDir, "approvals"))).sort()).toEqual(["key", "shown", "spent"]);
  });

  test("refuses a key that others can read, and a directory that others can write", async () => {
    const { stateDir } = await directory({});
    openApprovalState({ stateDir, key: undefined });
    await chmod(join(stateDir, "approvals", "key"), 0o644);
    expect(() => openApprovalState({ stateDir, key: undefined })).toThrow(/ours alone/u);
    await chmod(join(stateDir, "approvals", "key"), 0o600);
    await chmod(join(stateDir, "approvals"), 0o777);
    expect(() => openApprovalState({ stateDir, key: undefined })).toThrow(/others may write/u);
  });

  test("uses no answer that it cannot record", async () => {
    const { stateDir } = await directory({});
    const { spend } = openApprovalState({ stateDir, key: undefined });
    expect(spend("a")).toBe(true);
    expect(spend("a")).toBe(false);
    await rm(join(stateDir, "approvals", "spent"), { recursive: true });
    expect(spend("b")).toBe(false);
  });

  test("keeps to this process where its directory cannot be made", async () => {
    const { stateDir } = await directory({});
    await writeFile(join(stateDir, "file"), "");
    const states = [1, 2].map(() => openApprovalState({ stateDir: join(stateDir, "file"), key: undefined }));
    expect(states[0]!.keys).not.toEqual(states[1]!.keys);
    expect(states[0]!.spend("a")).toBe(true);
    expect(states[0]!.spend("a")).toBe(false);
  });
});
