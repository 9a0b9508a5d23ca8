/** `filewright doctor`: reports which features work on this machine, and which are missing. */
import { existsSync } from "node:fs";
import { arch, platform, release } from "node:os";
import process from "node:process";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import { packageVersion } from "../../mcp/command.ts";
import { DEFAULT_LIMITS } from "../../tools/lib/limits.ts";
import type { Workspace } from "../../workspace/index.ts";
import type { Command, CommandReport } from "../command.ts";
import { formatTable } from "../streams.ts";

/** The optional packages, each with the feature that it adds. */
const FEATURE_BY_PACKAGE: readonly (readonly [name: string, adds: string])[] = [
  ["sharp", "shrinks images that are too large for a model"],
  ["unpdf", "reads the text of PDF files"],
  ["yaml", "reads single values of YAML files"],
  ["@opentelemetry/api", "sends spans"],
];

/** The command `reportFeatures`. */
export const DOCTOR_COMMAND: Command = {
  name: "doctor",
  summary: "report what is enforced here: engine, kernel, limits, optional packages",
  usage: "filewright doctor [--root DIR] [--json]",
  about:
    "Opens a workspace like an agent's and reports the engine, the resolver of paths, the confinement by the kernel, the state directory and the limits.",
  options: {},
  help: [],
  examples: [["filewright doctor --json", "for programs, and for reports of defects"]],
  aboutMachine: true,
  takes: [0, 0],
  report: reportFeatures,
};

async function reportFeatures(ws: Workspace): Promise<CommandReport> {
  const { engine, backend, confinement, resolver, recovery } = ws.capabilities();
  const kernel = resolver?.kernel;
  const found = await Promise.all(
    FEATURE_BY_PACKAGE.map(async ([name]) => [name, await isPackageInstalled(name)] as const),
  );
  const peers = Object.fromEntries(found);
  const data = {
    version: packageVersion(),
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    engine,
    confinement,
    resolver,
    backend,
    recovery,
    state_dir: defaultStateDir(),
    limits: DEFAULT_LIMITS,
    peers,
  };
  const rows: (readonly [string, string, string])[] = [
    ["ok", "filewright", `${data.version} on Node ${data.node}, ${data.system}`],
    [
      engine.kind === "native" ? "ok" : "!",
      "engine",
      engine.kind === "native" ? "native" : `${engine.kind}, since ${engine.reason ?? "no addon loads"}`,
    ],
    [
      confinement === "native" ? "ok" : "!",
      "paths",
      confinement === "native"
        ? `resolved beneath pinned descriptors (${resolver?.resolver ?? "unknown"})`
        : "checked before they are used",
    ],
    [
      kernel?.files === "enforced" ? "ok" : "!",
      "kernel",
      kernel === undefined
        ? "confines nothing here"
        : `${kernel.files} on the threads that touch files${"reason" in kernel && kernel.reason !== undefined ? `: ${String(kernel.reason)}` : ""}`,
    ],
    [existsSync(data.state_dir) ? "ok" : "-", "state", `${data.state_dir}: locks, history, grants`],
    ...FEATURE_BY_PACKAGE.map(([name, adds]): readonly [string, string, string] => [
      peers[name] === true ? "ok" : "-",
      name,
      `${peers[name] === true ? "installed" : "not installed"}: ${adds}`,
    ]),
    ...Object.entries(DEFAULT_LIMITS).map(([name, most]): readonly [string, string, string] => [
      "",
      name,
      name.endsWith("Ms") ? `${most / 1000} s` : `${most / 1024 / 1024} MiB`,
    ]),
  ];
  return { text: formatTable(rows), data };
}

async function isPackageInstalled(name: string): Promise<boolean> {
  try {
    await import(name);
    return true;
  } catch {
    return false;
  }
}
