/** The contract of storages on PGlite: the same statements without a server. */
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, test } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { storageContract } from "../../../js/testing/index.ts";

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
      test,
      requires: ["statMany", "lockAll", "snapshot", "fork", "merge", "drop", "history", "records"],
    },
  );
});
