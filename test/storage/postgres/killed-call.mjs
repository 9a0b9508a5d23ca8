// A process that kills itself when a call has made all of its changes and has not committed them:
// node killed-call.mjs SOCKET_DIRECTORY WORKSPACE PATCH
import pg from "pg";
import { openWorkspace, postgresStorage } from "../../../dist/cli/library.js";
import { PORT } from "./server.mjs";

const [host, workspace, patch] = process.argv.slice(2);
const client = new pg.Pool({ host, port: PORT, user: "postgres", database: "postgres" });
const storage = await postgresStorage({ client, workspace });
const killing = new Proxy(storage, {
  get(target, name) {
    const value = Reflect.get(target, name, target);
    if (name === "commit")
      return (ops) => {
        if (ops.length !== 20) throw new Error(`${ops.length} changes in one commit`);
        process.kill(process.pid, "SIGKILL");
      };
    return typeof value === "function" ? value.bind(target) : value;
  },
});
const ws = await openWorkspace({ storage: killing, root: "/repo" });
await ws.call("apply_patch", { patch });
