/** A commit on an engine whose disk is full: a code that says that nothing happened, and the same key once there is room. */
import { randomBytes } from "node:crypto";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import type { CommitOptions, Op, Storage } from "../../../js/storage/index.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { missingServer, startPostgres, type TestServer } from "./server.mjs";

const DISK = "size=8m";

/** Mounts an empty disk that the server may write to; undefined where that is not permitted. */
function mountSmallDisk(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "fw-pg-full-"));
  const owner = process.getuid?.() === 0 ? `,uid=${idOf("-u")},gid=${idOf("-g")},mode=700` : "";
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `${DISK}${owner}`, "tmpfs", directory]);
  if (status === 0) return directory;
  rmSync(directory, { recursive: true });
  return undefined;
}

const idOf = (flag: string): string => execFileSync("id", [flag, "postgres"], { encoding: "utf8" }).trim();

function unmount(directory: string): void {
  spawnSync("umount", ["-l", directory]);
  rmSync(directory, { recursive: true, force: true });
}

const probe = missingServer() === undefined ? mountSmallDisk() : undefined;
if (probe !== undefined) unmount(probe);

const put = (path: string, body: Uint8Array): Op => ({ op: "put", path, body });
const isThere = async (storage: Storage, path: string): Promise<boolean> =>
  (await storage.readMany([path], { bodies: false })).results[0] !== null;

/** Commits a change under a key on a full disk, makes room, and commits it again. */
async function commitAcrossFullDisk(
  storage: Storage,
  ops: readonly Op[],
  makeRoom: () => Promise<unknown>,
): Promise<void> {
  const { head } = await storage.changes(null, { limit: 0 });
  const options: CommitOptions = { key: "k", records: [{ kind: "count", id: "commits", add: 1 }] };
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(storage.commit(ops, options)).rejects.toMatchObject({
      code: "NO_SPACE",
      details: { outcome: "none" },
    });
  expect((await storage.changes(null, { limit: 0 })).head).toBe(head);
  expect(await isThere(storage, "/full")).toBe(false);
  expect(await storage.records?.get("count", "commits")).toBeNull();
  await makeRoom();
  const done = await storage.commit(ops, options);
  expect(done.repeated).toBeUndefined();
  expect(await storage.commit(ops, options)).toMatchObject({ version: done.version, repeated: true });
  expect(await isThere(storage, "/full")).toBe(true);
  expect((await storage.records?.get("count", "commits"))?.value).toBe(1);
}

describe.skipIf(missingServer() !== undefined)("a full disk of the database", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it.skipIf(probe === undefined)(
    "changes nothing, and the same key settles the commit once there is room",
    async () => {
      const disk = mountSmallDisk();
      if (disk === undefined) throw new Error("no disk was mounted");
      afterThisTest(() => unmount(disk));
      const client = server.pool();
      const storage = await postgresStorage({ client, workspace: "real" });
      await client.query(`create tablespace small location '${disk}'`);
      await client.query("alter table filewright.blob set tablespace small");
      const move = "alter table filewright.blob set tablespace pg_default";
      // Bytes that do not compress, more than the disk has.
      const ops = [put("/small", new Uint8Array(10)), put("/full", randomBytes(12 * 1024 * 1024))];
      await commitAcrossFullDisk(storage, ops, () => client.query(move));
      await client.query("drop tablespace small");
    },
  );

  it("does so where a double of the full disk refuses the contents", async () => {
    const client = server.pool();
    const storage = await postgresStorage({ client, workspace: "double", schema: "doubled" });
    await client.query(`create function doubled.full_disk() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
    await client.query(
      "create trigger full_disk before insert on doubled.blob execute function doubled.full_disk()",
    );
    await commitAcrossFullDisk(storage, [put("/full", new Uint8Array(10))], () =>
      client.query("drop trigger full_disk on doubled.blob"),
    );
  });
});
