// Begins a measurement of storages on a Postgres server of its own.
import { missingServer, startPostgres } from "../../test/storage/postgres/server.mjs";
import { Skip } from "./skip.mjs";

/** Starts a server that flushes what it commits. Returns it, and how storages and workspaces are opened. @throws Skip */
export async function startStorages(load) {
  const problem = missingServer();
  if (problem !== undefined) throw new Skip(problem);
  const { openWorkspace } = await load("index.node.js");
  const { postgresStorage } = await import("@filewright/storage/postgres");
  return { openWorkspace, postgresStorage, server: await startPostgres(["fsync=on"]) };
}
