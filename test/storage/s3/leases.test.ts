/** Writers of one file through two connections to a store without locks: nobody starves and nothing is lost. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWorkspace } from "../../../js/index.node.ts";
import { s3Storage } from "@filewright/storage/s3";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "./versitygw.mjs";

const WRITERS = 8;
const EDITS = 5;

describe.skipIf(LACKS_VERSITYGW)("writers of one file on versitygw", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startVersitygw();
  });
  afterAll(() => server.stop());

  test("eight through two storages make all of their edits, each in its turn", async () => {
    const workspace = randomUUID();
    const { endpoint, bucket, credentials } = server;
    const storages = await Promise.all(
      [1, 2].map(() => s3Storage({ endpoint, bucket, credentials, workspace })),
    );
    const lines = Array.from({ length: WRITERS * EDITS }, (_, n) => `line ${n}.`);
    await storages[0]?.commit([
      { op: "put", path: "/repo/f.txt", body: new TextEncoder().encode(lines.join("\n")) },
    ]);
    const replicas = await Promise.all(storages.map((storage) => openWorkspace({ storage, root: "/repo" })));
    const made = new Array<number>(WRITERS).fill(0);
    let least = 0;
    await Promise.all(
      made.map(async (_, writer) => {
        for (let edit = 0; edit < EDITS; edit += 1) {
          const line = `line ${writer * EDITS + edit}.`;
          const result = await replicas[writer % 2]?.call("edit_file", {
            path: "f.txt",
            old_text: line,
            new_text: line.toUpperCase(),
          });
          expect(result?.ok ? "ok" : result?.text).toBe("ok");
          made[writer] = edit + 1;
          if (edit + 1 === EDITS && least === 0) least = Math.min(...made);
        }
      }),
    );
    const { text } = (await replicas[0]?.call("read_file", { path: "f.txt", line_numbers: "none" })) ?? {};
    for (const line of lines) expect(text).toContain(line.toUpperCase());
    // When the first writer was done, the slowest had begun: none waits until the others are through.
    expect(least).toBeGreaterThan(0);
    for (const ws of replicas) await ws.close();
  });
});
