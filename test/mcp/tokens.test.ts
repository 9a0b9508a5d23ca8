/** Tokens of `filewright serve`: the clients' and the approver's open different doors, and files of others are refused. */
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { runInProcess } from "../support/in-process.ts";
import { scratch } from "./harness.ts";
import { bearer, callOver, send, serve, serveProcess, TOKEN } from "./serving.ts";

const APPROVER = "another-token-for-approvals";

/** The parts of the server's URL. */
const at = (url: string, path: string): string => new URL(path, url).href;

/** Waits until one question waits; gives its id. */
async function question(url: string, token: string): Promise<string> {
  for (;;) {
    const { text } = await send(
      at(url, "/approvals"),
      { authorization: `Bearer ${token}` },
      { method: "GET" },
    );
    const { pending } = JSON.parse(text) as { pending: { id: string }[] };
    if (pending[0] !== undefined) return pending[0].id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("with --approve", () => {
  test("the clients' token answers no question, and the approver's token calls no tool", async () => {
    await using dir = await scratch();
    await using server = await serve([dir.dir, "--approve"], { FILEWRIGHT_APPROVE_TOKEN: APPROVER });
    const approver = { authorization: `Bearer ${APPROVER}` };
    const writing = callOver(server.url, "write_file", { path: "f.txt", content: "x" });
    const id = await question(server.url, APPROVER);
    const body = JSON.stringify({ outcome: "proceed_once" });
    for (const path of [`/approvals/${id}`, "/approvals", "/approvals/", "/approvals/events"])
      expect((await send(at(server.url, path), bearer, { body })).status, path).toBe(401);
    expect((await send(at(server.url, "/approvals"), bearer, { method: "GET" })).status).toBe(401);
    expect((await send(at(server.url, "/approvalsX"), approver, { body })).status).toBe(401);
    expect((await send(server.url, approver)).status).toBe(401);
    expect((await send(server.url, bearer)).status).toBe(200);
    expect((await send(at(server.url, `/approvals/${id}`), approver, { body })).status).toBe(200);
    expect((await writing).result?.["isError"]).not.toBe(true);
    expect(readFileSync(join(dir.dir, "f.txt"), "utf8")).toBe("x");
  });

  test("both tokens are written to files of their own, and filewright approve reads its own", async () => {
    await using dir = await scratch();
    await using state = await scratch();
    const env = { XDG_STATE_HOME: state.dir, FILEWRIGHT_TOKEN: "", FILEWRIGHT_APPROVE_TOKEN: "" };
    await using server = await serve([dir.dir, "--approve"], env);
    const { port } = new URL(server.url);
    const file = (name: string): string => join(state.dir, "filewright", `serve-${port}${name}.token`);
    const token = (name: string): string => readFileSync(file(name), "utf8").trim();
    for (const name of ["", ".approve"]) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    expect(token("")).not.toBe(token(".approve"));
    const client = { authorization: `Bearer ${token("")}` };
    const writing = callOver(server.url, "write_file", { path: "f.txt", content: "x" }, client);
    await question(server.url, token(".approve"));
    const approve = (...args: string[]) =>
      runInProcess(["approve", "--url", at(server.url, "/"), ...args], {
        cwd: dir.dir,
        env: { ...process.env, ...env },
      });
    expect(await approve("all", "--token-file", file(""))).toMatchObject({ status: 2 });
    expect(await approve("all")).toMatchObject({ status: 0 });
    expect((await writing).result?.["isError"]).not.toBe(true);
    expect(server.said()).not.toContain(token(".approve"));
  });

  test("the server is not started when both tokens are the same", async () => {
    await using dir = await scratch();
    const started = serve([dir.dir, "--approve"], { FILEWRIGHT_APPROVE_TOKEN: TOKEN });
    await expect(started).rejects.toThrow("the token for approvals must not be that of the clients");
  });
});

type Prepare = (dir: string, file: string) => string;
const withMode =
  (mode: number): Prepare =>
  (_, file) => {
    chmodSync(file, mode);
    return file;
  };
const FILES: readonly (readonly [what: string, prepare: Prepare, says: RegExp])[] = [
  ["that others can read", withMode(0o644), /chmod 600/u],
  ["that others can write", withMode(0o622), /chmod 600/u],
  ["that everybody can use", withMode(0o666), /chmod 600/u],
  ["that the group can read", withMode(0o640), /chmod 600/u],
  [
    "that is a link",
    (dir, file) => {
      symlinkSync(file, join(dir, "link"));
      return join(dir, "link");
    },
    /is a link/u,
  ],
  [
    "that is a directory",
    (dir) => {
      mkdirSync(join(dir, "d"));
      return join(dir, "d");
    },
    /no regular file/u,
  ],
  [
    "that is too short",
    (dir) => {
      writeFileSync(join(dir, "short"), "short\n", { mode: 0o600 });
      return join(dir, "short");
    },
    /at least 16/u,
  ],
  [
    "that is no token but a book",
    (dir) => {
      writeFileSync(join(dir, "long"), "x".repeat(5000), { mode: 0o600 });
      return join(dir, "long");
    },
    /too long/u,
  ],
  ["that is missing", (dir) => join(dir, "gone"), /no token in/u],
];

describe.each([
  ["serve", (file: string, dir: string) => ["serve", dir, "--port", "0", "--token-file", file]],
  ["approve", (file: string) => ["approve", "--url", "http://127.0.0.1:9", "--token-file", file]],
] as const)("%s", (_, argv) => {
  test.each(FILES)("refuses a token file %s", async (_what, prepare, says) => {
    await using dir = await scratch();
    const file = join(dir.dir, "token");
    writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
    const given = prepare(dir.dir, file);
    const ran = await runInProcess(argv(given, dir.dir), {
      cwd: dir.dir,
      env: { ...process.env, FILEWRIGHT_TOKEN: "", FILEWRIGHT_APPROVE_TOKEN: "" },
    });
    expect(ran.err).toMatch(says);
    expect(ran.err).not.toContain("    at ");
    expect(ran.status).not.toBe(0);
  });
});

test.skipIf(process.getuid?.() !== 0)("serve refuses a token file of another user", async () => {
  const { chownSync } = await import("node:fs");
  await using dir = await scratch();
  const file = join(dir.dir, "token");
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
  chownSync(file, 1234, 1234);
  const started = serve([dir.dir, "--token-file", file], { FILEWRIGHT_TOKEN: "" });
  await expect(started).rejects.toThrow("belongs to another user");
});

test("an older token file at the same place is replaced, not written through", async () => {
  await using dir = await scratch();
  await using state = await scratch();
  const other = join(state.dir, "other");
  writeFileSync(other, "untouched");
  const env = { XDG_STATE_HOME: state.dir, FILEWRIGHT_TOKEN: "" };
  await using first = await serveProcess([dir.dir], env);
  const { port } = new URL(first.url);
  first.kill("SIGKILL");
  await first.ended;
  const file = join(state.dir, "filewright", `serve-${port}.token`);
  chmodSync(file, 0o666);
  linkSync(file, join(state.dir, "hard"));
  const before = readFileSync(join(state.dir, "hard"), "utf8");
  const { writeToken } = await import("../../js/mcp/auth/token-file.ts");
  writeToken(file, TOKEN);
  expect(readFileSync(join(state.dir, "hard"), "utf8")).toBe(before);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toBe(`${TOKEN}\n`);
});
