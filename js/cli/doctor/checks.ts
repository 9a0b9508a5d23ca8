/** The checks of `filewright doctor`. None of them needs an engine, and none ends the others. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { arch, platform, release } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { assertWritableStateDirectory, openStateDirectory } from "../../backends/state-directory.node.ts";
import { describePassedOver } from "../../backends/state-directory.ts";
import { DEBUG_AREAS } from "../../engine/debug.ts";
import { messageOf } from "../../engine/thrown.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import { VERSION } from "../../engine/generated/version.ts";
import { directoryFault, expandHome } from "../../mcp/directories.ts";
import { type Check, runCheck } from "./check.ts";
import { checkPackages, isOlder } from "./packages.ts";
import { type Probe, probeEngines } from "./probe.ts";

/** The oldest Node that the package is tested with. */
const LEAST_NODE = "20.19";

/** The results of all checks, and the facts behind them. */
export interface Diagnosis {
  readonly checks: readonly Check[];
  readonly probe: Probe;
  readonly stateDir: string | undefined;
}

/** The options of the command line that matter here. */
export type DoctorFlags = Readonly<Record<string, unknown>>;

/** Runs all checks. */
export async function diagnose(flags: DoctorFlags): Promise<Diagnosis> {
  const checks: Check[] = [];
  const check = async (name: string, run: () => Check | Promise<Check>): Promise<void> => {
    checks.push(await runCheck(name, run));
  };
  let stateDir: string | undefined;
  let roots: readonly string[] = [];
  await check("node", checkNode);
  await check("filewright", () => ({
    name: "filewright",
    status: "ok",
    message: `${VERSION} on Node ${process.version}, ${platform()} ${release()} ${arch()}`,
  }));
  await check("debug", checkDebug);
  await check("config", async () => {
    const { settings, ...found } = await checkConfig(flags);
    stateDir = settings.stateDir;
    roots = settings.roots;
    return found;
  });
  await check("state", () => checkState(stateDir));
  const root = typeof flags["root"] === "string" ? flags["root"] : (roots[0] ?? ".");
  await check("root", () => checkRoot(root));
  const usable = checks.at(-1)?.status === "ok" ? resolve(expandHome(root)) : "/";
  let probe: Probe = {};
  await check("engine", () => {
    probe = probeEngines(usable);
    return checkEngine(probe);
  });
  await check("wasm", () => checkWasm(probe));
  await check("workspace", () => checkWorkspace(probe));
  await check("paths", () => checkPaths(probe));
  await check("kernel", () => checkKernel(probe));
  await check("proc", checkProc);
  await check("commands", checkCommands);
  for (const { name, run } of checkPackages()) await check(name, run);
  // The line about the optional parts that say nothing is left out.
  return { checks: checks.filter(({ message }) => message !== ""), probe, stateDir: stateDirOf(stateDir) };
}

const NOTHING = { status: "ok", message: "" } as const;

function checkNode(): Check {
  const name = "node";
  return isOlder(process.versions.node, LEAST_NODE)
    ? {
        name,
        status: "broken",
        message: `Node ${process.version} is too old: filewright needs ${LEAST_NODE} or later`,
        remedy: "install a newer Node, for example: nvm install 22",
      }
    : { name, ...NOTHING };
}

function checkDebug(): Check {
  const areas = ["all", ...Object.keys(DEBUG_AREAS)];
  const given = (process.env["FILEWRIGHT_DEBUG"] ?? "").split(",").map((part) => part.trim());
  const unknown = given.filter((area) => area !== "" && !areas.includes(area));
  if (unknown.length === 0) return { name: "debug", ...NOTHING };
  return {
    name: "debug",
    status: "warning",
    message: `FILEWRIGHT_DEBUG names no area: ${unknown.map(escapeControls).join(", ")}`,
    remedy: `set it to some of ${areas.join(", ")}`,
  };
}

interface ConfiguredPlaces {
  readonly stateDir: string | undefined;
  readonly roots: readonly string[];
}

async function checkConfig(flags: DoctorFlags): Promise<Check & { readonly settings: ConfiguredPlaces }> {
  const name = "config";
  const none = { stateDir: undefined, roots: [] };
  const { config, rules } = flags;
  if (config === undefined && rules === undefined) return { name, ...NOTHING, settings: none };
  try {
    const { effectiveSettingsOf } = await import("../../mcp/settings.ts");
    const { workspace, roots } = effectiveSettingsOf({ config, rules });
    const settings = { stateDir: workspace.stateDir, roots: roots.map(({ path }) => path) };
    return { name, status: "ok", message: escapeControls(String(config ?? rules)), settings };
  } catch (error) {
    const [message = ""] = messageOf(error).split("\n");
    const remedy = "correct the file; filewright config --config FILE prints the options in force";
    return { name, status: "broken", message, remedy, settings: none };
  }
}

function stateDirOf(given: string | undefined): string | undefined {
  try {
    return openStateDirectory(given).path;
  } catch {
    return given;
  }
}

function checkState(given: string | undefined): Check {
  const name = "state";
  try {
    assertWritableStateDirectory(given);
    const { path, passedOver, problem } = openStateDirectory(given);
    const shown = `${escapeControls(path)}: locks, history, grants`;
    if (problem !== undefined)
      return {
        name,
        status: "broken",
        message: `${escapeControls(path)}: ${problem}`,
        remedy: "free space there",
      };
    if (passedOver.length === 0) return { name, status: "ok", message: shown };
    return {
      name,
      status: "warning",
      message: `${shown}; not in ${describePassedOver(passedOver)}`,
      remedy: "set XDG_STATE_HOME to a directory that you can write, to keep the history",
    };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return { name, status: "broken", message: error.message.replace(/\.$/u, ""), remedy: error.hint };
  }
}

function checkRoot(root: string): Check {
  const path = resolve(expandHome(root));
  const fault = directoryFault(path);
  const shown = escapeControls(path);
  if (fault !== undefined)
    return {
      name: "root",
      status: "broken",
      message: `the directory '${shown}' ${fault}`,
      remedy: "name a directory that you can read with --root",
    };
  return { name: "root", status: "ok", message: shown };
}

function checkEngine({ addon, wasm, ended }: Probe): Check {
  const name = "engine";
  const failure = addon?.failure;
  if (addon === undefined || (ended !== undefined && failure === undefined && wasm === undefined))
    return {
      name,
      status: "broken",
      message: `loading the native addon ended the process (${ended ?? "no answer"})`,
      remedy: `set FILEWRIGHT_ENGINE=wasm, or run: npm install filewright@${VERSION}`,
    };
  if (failure === undefined) return { name, status: "ok", message: "native" };
  if (failure.code === "setting")
    return { name, status: "broken", message: failure.message, remedy: failure.remedy };
  if (wasm?.reason !== undefined || process.env["FILEWRIGHT_ENGINE"] === "native")
    return { name, status: "broken", message: `no engine: ${failure.message}`, remedy: failure.remedy };
  return { name, status: "warning", message: `wasm, since ${failure.message}`, remedy: failure.remedy };
}

function checkWasm({ wasm }: Probe): Check {
  if (wasm?.reason === undefined) return { name: "wasm", ...NOTHING };
  const [message = "", remedy] = wasm.reason.split("; ");
  return {
    name: "wasm",
    status: "warning",
    message: `${message}: nothing replaces a native addon that does not load`,
    remedy,
  };
}

function checkWorkspace({ workspace, addon, wasm, ended }: Probe): Check {
  const name = "workspace";
  const hasEngine = addon !== undefined && (addon.failure === undefined || wasm?.reason === undefined);
  if (workspace?.facts !== undefined || !hasEngine || addon?.failure?.code === "setting")
    return { name, ...NOTHING };
  const why = workspace?.error ?? `the process ended (${ended ?? "no answer"})`;
  return {
    name,
    status: "broken",
    message: `none opens: ${why}`,
    remedy: workspace?.remedy ?? "please report it",
  };
}

function checkPaths({ workspace }: Probe): Check {
  const name = "paths";
  const facts = workspace?.facts;
  if (facts === undefined) return { name, ...NOTHING };
  return facts.confinement === "native"
    ? {
        name,
        status: "ok",
        message: `resolved beneath pinned descriptors (${facts.resolver?.resolver ?? "unknown"})`,
      }
    : {
        name,
        status: "warning",
        message: "checked before they are used, which another program can race against",
        remedy: "use the native addon",
      };
}

function checkKernel({ workspace }: Probe): Check {
  const name = "kernel";
  const facts = workspace?.facts;
  const kernel = facts?.resolver?.kernel;
  if (facts === undefined) return { name, ...NOTHING };
  const remedy = "use Linux 5.13 or later with Landlock, or run the agent as a separate user";
  if (kernel === undefined) return { name, status: "warning", message: "confines nothing here", remedy };
  const message = `${kernel.files} on the threads that touch files${kernel.reason === undefined ? "" : `: ${kernel.reason}`}`;
  return kernel.files === "enforced"
    ? { name, status: "ok", message }
    : { name, status: "warning", message, remedy };
}

function checkProc(): Check {
  const name = "proc";
  if (process.platform !== "linux" || existsSync("/proc/self/fd")) return { name, ...NOTHING };
  return {
    name,
    status: "warning",
    message: "/proc is not mounted: run_command and indexes of large trees work with less",
    remedy: "run: mount -t proc proc /proc",
  };
}

function checkCommands(): Check {
  const name = "commands";
  if (process.platform !== "linux") return { name, ...NOTHING };
  const found = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "bwrap"))
    .find(isProgram);
  return found === undefined
    ? {
        name,
        status: "absent",
        message: "bubblewrap is not installed: commands need it to be held to the whole policy",
        remedy: "run: apt-get install bubblewrap",
      }
    : { name, status: "ok", message: `${escapeControls(found)} holds commands to the policy` };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
