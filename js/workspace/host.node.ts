/** Registers the local disk of Node, and the services that depend on it, for the workspaces of this process. */
import "../engine/index.node.ts";
import { lazily } from "../engine/lazy.ts";
import { openGrantsFile } from "../policy/grants-file.node.ts";
import { isDiskBackend, openDisk } from "../backends/disk.node.ts";
import { isCheckedDisk } from "../backends/node/made.node.ts";
import { homeDirectory } from "../backends/home.node.ts";
import { takeDescriptorRoom } from "../backends/local/descriptor-room.node.ts";
import { tryLock } from "../backends/local/lock.node.ts";
import { defaultStateDirs, openStateDirectory } from "../backends/state-directory.node.ts";
import { FileJournal } from "../log/store.node.ts";
import { setLocalHost } from "./host.ts";
import { fileApprovals } from "../hooks/approvals-file.node.ts";
import { fileReads } from "../pipeline/past/reads-file.node.ts";

const commands = lazily("commands", () => import("../backends/sandbox/sandbox-choice.node.ts"));
const mirrors = lazily("copies of storages", () => import("../storage/mirror/open.node.ts"));

const journalByStateDir = new Map<string, FileJournal>();

/**
 * Returns the journal of a state directory, one for each directory, because its lock shows that this
 * process is alive.
 */
function journalOfStateDir(stateDir: string): FileJournal {
  let known = journalByStateDir.get(stateDir);
  if (known === undefined) {
    known = new FileJournal(stateDir, (name) => tryLock(stateDir, name));
    journalByStateDir.set(stateDir, known);
  }
  return known;
}

setLocalHost({
  journal: journalOfStateDir,
  isDisk: isDiskBackend,
  isChecked: isCheckedDisk,
  stateDir: openStateDirectory,
  defaultStateDirs,
  commands: async () => (await commands()).openCommands,
  open: openDisk,
  grants: (file, stateDir) => openGrantsFile(file, { stateDir }),
  cwd: () => process.cwd(),
  home: homeDirectory,
  environment: () => process.env,
  reads: fileReads,
  approvals: fileApprovals,
  takeRoom: takeDescriptorRoom,
  mirrors: async () => {
    const { mirrorProblem: problem, openMirror: open } = await mirrors();
    return { problem, open };
  },
});
