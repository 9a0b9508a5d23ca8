// Random sessions of one agent at two replicas of one workspace on Postgres. Each call goes to either of them by chance;
// the answers are those of a session that one replica has served alone.
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { startPostgres } from "../storage/postgres/server.mjs";
import { randomSession, runSession, SESSION_FILES } from "../storage/replica-sessions.mjs";

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "sessions at two replicas over Postgres: the same answers as at one, guard and cursors included",
  count: 1000,
  share: 20,
  async run({ seed, count, isOver }) {
    const { postgresStorage } = await import("../../dist/storage/postgres/index.node.js");
    const { openWorkspace } = await import("../../dist/index.node.js");
    const server = await startPostgres();
    const [first, second] = [server.pool(), server.pool()];
    const random = seededRandom(seed);
    const failures = [];
    let cases = 0;
    /** Opens a workspace of its own with the files of a session, at so many replicas. */
    const open = async (name, clients) => {
      const storages = await Promise.all(
        clients.map((client) => postgresStorage({ client, workspace: name })),
      );
      const encoder = new TextEncoder();
      await storages[0].commit(
        Object.entries(SESSION_FILES).map(([path, body]) => ({
          op: "put",
          path: `/repo/${path}`,
          body: encoder.encode(body),
        })),
      );
      return Promise.all(
        storages.map((storage) => openWorkspace({ storage, root: "/repo", guard: "refuse" })),
      );
    };
    try {
      for (; cases < count && !isOver(); cases++) {
        const session = seed + cases;
        const calls = randomSession(session);
        const [alone] = await open(`alone-${session}`, [first]);
        const replicas = await open(`both-${session}`, [first, second]);
        const expected = await runSession(calls, () => alone);
        const found = await runSession(calls, () => random.pick(replicas));
        const index = expected.findIndex((answer, at) => answer !== found[at]);
        if (index >= 0)
          failures.push(
            `--seed ${session} --count 1: ${expected[index]}\n  at two replicas: ${found[index]}`,
          );
        for (const ws of [alone, ...replicas]) await ws.close();
      }
      return { cases, failures };
    } finally {
      await server.stop();
    }
  },
};
