/** The local disk, made available to workspaces. Imported by the Node entry for its effect. */
import { homedir } from "node:os";
import process from "node:process";
import { openGrantsFile } from "../access/grants-file.node.ts";
import { LocalBackend } from "../backends/local.node.ts";
import { setLocalHost } from "./host.ts";

setLocalHost({
  open: ({ stateDir, durability }) => new LocalBackend({ stateDir, durability }),
  grants: (file, stateDir) => openGrantsFile(file, { stateDir }),
  cwd: () => process.cwd(),
  home: () => homedir(),
});
