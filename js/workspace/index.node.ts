/**
 * Opens workspaces, also on the local disk, and exports every type of them and of their tools: options,
 * results, arguments and data.
 *
 * @module filewright/workspace
 */
import "../engine/index.node.ts";
import { homedir } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import { openGrantsFile } from "../policy/grants-file.node.ts";
import { LocalBackend } from "../backends/local/local.node.ts";
import { defaultStateDir, tryLock } from "../backends/local/lock.node.ts";
import { openCommands } from "../backends/sandbox/sandbox-choice.node.ts";
import { FileJournal } from "../journal/store.node.ts";
import { setLocalHost } from "./host.ts";
import { fileReadStore } from "../pipeline/past/reads-file.node.ts";

export * from "./index.ts";

const journalByStateDir = new Map<string, FileJournal>();

/**
 * Returns the journal of a state directory, one for each directory, because its lock shows that this
 * process is alive.
 */
function journalOfStateDir(stateDir: string = defaultStateDir()): FileJournal {
  let known = journalByStateDir.get(stateDir);
  if (known === undefined) {
    known = new FileJournal(stateDir, (name) => tryLock(stateDir, name));
    journalByStateDir.set(stateDir, known);
  }
  return known;
}

setLocalHost({
  journal: journalOfStateDir,
  isDisk: (backend) => backend instanceof LocalBackend,
  stateDir: (given) => resolve(given ?? defaultStateDir()),
  commands: openCommands,
  open: (settings) => new LocalBackend(settings),
  grants: (file, stateDir) => openGrantsFile(file, { stateDir }),
  cwd: () => process.cwd(),
  home: () => homedir(),
  environment: () => process.env,
  reads: fileReadStore,
});
