// Random sessions of MCP clients at two replicas, which are two processes over one Postgres behind a proxy that gives
// them requests in turn. Every change is a question that the client's user answers. The answers, and the files at the
// end, are those of a session that one replica has served alone.
import { randomBytes } from "node:crypto";
import { startIssuer } from "../serving/issuer.mjs";
import { randomMcpSession, runMcpSession } from "../serving/mcp-sessions.mjs";
import { startReplica } from "../serving/replica-processes.mjs";
import { startRoundRobin } from "../serving/round-robin.mjs";
import { startPostgres } from "../storage/postgres/server.mjs";
import { SESSION_FILES } from "../storage/replica-sessions.mjs";

/** The number of sessions at once: a session that waits for news of its subscription leaves the processor to others. */
const AT_ONCE = 4;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "sessions at two replica processes behind a round-robin proxy: approvals, cursors, subscriptions, undo as at one",
  count: 1000,
  share: 20,
  async run({ seed, count, isOver }) {
    const { postgresStorage } = await import("../../dist/cli/library.js");
    const server = await startPostgres();
    const issuer = await startIssuer();
    const options = {
      ...{ host: server.host, issuer: issuer.url, key: randomBytes(32).toString("hex") },
      argv: ["--ask", "--preset", "lean", "--tools", "all", "--structured", "full"],
    };
    const replicas = [];
    const client = server.pool();
    const failures = [];
    let cases = 0;
    let begun = 0;
    /** Opens the storage of a workspace and puts the files of a session there. */
    const workspaceOf = async (tenant, workspace) => {
      const storage = await postgresStorage({ client, tenant, workspace });
      const encoder = new TextEncoder();
      const files = Object.entries(SESSION_FILES);
      await storage.commit(
        files.map(([path, body]) => ({ op: "put", path: `/${path}`, body: encoder.encode(body) })),
      );
      return storage;
    };
    const filesOf = async (storage) =>
      (await storage.list({ limit: 1000 })).entries.map(({ path, type, hash }) => `${path} ${type} ${hash}`);
    try {
      // The first one makes the tables.
      for (let index = 0; index < 2; index++) replicas.push(await startReplica(options));
      const proxy = await startRoundRobin(replicas.map(({ url }) => url));
      const compare = async (session) => {
        const repo = `${session}`;
        const [one, two] = [await workspaceOf("one", repo), await workspaceOf("two", repo)];
        const tokenOf = (org) => issuer.token({ org, repo });
        const expected = await runMcpSession(replicas[0].url, tokenOf("one"), randomMcpSession(session));
        const found = await runMcpSession(proxy.url, tokenOf("two"), randomMcpSession(session));
        const index = expected.findIndex((answer, at) => answer !== found[at]);
        if (index >= 0 || expected.length !== found.length)
          return `${expected.at(index)}\n  at two replicas: ${found.at(index)}`;
        const [left, right] = [await filesOf(one), await filesOf(two)];
        return left.join("\n") === right.join("\n") ? undefined : `other files: ${left}\n  at two: ${right}`;
      };
      const work = async () => {
        while (begun < count && !isOver()) {
          const session = seed + begun++;
          const fault = await compare(session).catch((error) => `failed: ${error.stack}`);
          if (fault !== undefined) failures.push(`--seed ${session} --count 1: ${fault}`);
          cases += 1;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      const [first, second] = [...proxy.given.values()];
      if (Math.min(first, second) < (first + second) / 4)
        failures.push(`requests not in turn: ${first} and ${second}`);
      await proxy.close();
      return { cases, failures };
    } finally {
      for (const { kill } of replicas) kill("SIGTERM");
      await Promise.all(replicas.map(({ ended }) => ended));
      issuer.close();
      await server.stop();
    }
  },
};
