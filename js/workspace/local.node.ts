/** The local disk, made available to workspaces. Imported by the Node entry for its effect. */
import process from "node:process";
import { LocalBackend } from "../backends/local.node.ts";
import { setLocalHost } from "./host.ts";

setLocalHost({
  open: ({ stateDir, durability }) => new LocalBackend({ stateDir, durability }),
  cwd: () => process.cwd(),
});
