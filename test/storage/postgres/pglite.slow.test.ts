/**
 * The contract of storages on PGlite: the same statements without a server. By day a fourth of the cases: each needs a
 * second of the processor, and a server passes all of them (contract.test.ts).
 */
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, test } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { storageContract } from "../../../js/testing/index.ts";
import { shareOfTests } from "../../support/share.ts";

let workspaces = 0;

describe("postgresStorage on PGlite", () => {
  let client: PGlite;
  beforeAll(async () => {
    client = await PGlite.create();
  });
  afterAll(() => client.close());
  storageContract(
    async () => ({ storage: await postgresStorage({ client, workspace: `w${workspaces++}` }) }),
    {
      test: shareOfTests(test, 4),
      requires: ["statMany", "lockAll", "snapshot", "fork", "merge", "drop", "history", "records"],
    },
  );
});
