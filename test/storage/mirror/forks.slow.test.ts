/** Forks on Postgres are searched as a walk searches them, whatever has changed in them and in their parents. */
import { afterAll, beforeAll, describe, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { isNight } from "../../support/share.ts";
import { missingServer, startPostgres, type TestServer } from "../postgres/server.mjs";
import { compareForksWithWalks } from "./fork-parity.ts";

let server: TestServer;

describe.skipIf(missingServer() !== undefined)("a search in a fork on Postgres", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it("answers as a walk of the fork, while forks of forks and their parents change", async () => {
    const client = server.pool();
    let number = 0;
    await compareForksWithWalks(
      () => postgresStorage({ client, workspace: `parity-${number++}` }),
      isNight ? 4 : 2,
    );
  }, 240_000);
});
