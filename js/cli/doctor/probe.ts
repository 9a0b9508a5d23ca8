/**
 * Loads the engines and opens a workspace in a process of its own, because an addon can end the process that loads
 * it. Each stage prints one line of JSON, so that the lines before such an end are known.
 */
import { spawnSync } from "node:child_process";
import type { AddonFailure } from "../../engine/native/addon-failure.node.ts";
import type { Capabilities } from "../../workspace/index.ts";

/** The findings of the process. */
export interface Probe {
  /** The native addon: undefined when it loads. */
  readonly addon?: { readonly failure?: AddonFailure };
  /** The WebAssembly module: undefined `reason` when it loads. */
  readonly wasm?: { readonly reason?: string };
  /** The workspace, or why it does not open. */
  readonly workspace?: {
    readonly facts?: Capabilities;
    readonly error?: string;
    readonly remedy?: string | undefined;
  };
  /** How the process ended, if not in order. */
  readonly ended?: string;
}

/** The argument that starts the process of the probe. */
export const PROBE_ARGUMENT = "--probe";

/** Runs the probe. The workspace is opened in `root`. */
export function probeEngines(root: string): Probe {
  const { stdout, stderr, status, signal } = spawnSync(
    process.execPath,
    [...process.execArgv, process.argv[1] ?? "", "doctor", PROBE_ARGUMENT, root],
    { encoding: "utf8", timeout: 30_000 },
  );
  const found = Object.assign(
    {},
    ...(stdout ?? "")
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Probe] : [])),
  ) as Probe;
  if (status === 0) return found;
  const said = (stderr ?? "").split("\n").find((line) => /error/iu.test(line)) ?? "";
  return { ...found, ended: signal === null ? `status ${status}${said === "" ? "" : `: ${said}`}` : signal };
}

/** The process of the probe. */
export async function runProbe(root: string): Promise<void> {
  const tell = (found: Probe): void => void process.stdout.write(`${JSON.stringify(found)}\n`);
  const { loadNative, loadWasm } = await import("../../engine/load.node.ts");
  const native = loadNative();
  tell({ addon: "failure" in native ? { failure: native.failure } : {} });
  const wasm = loadWasm();
  tell({ wasm: "reason" in wasm ? { reason: wasm.reason } : {} });
  try {
    const { openWorkspace } = await import("../../workspace/index.node.ts");
    const ws = await openWorkspace({ root, index: "off" });
    tell({ workspace: { facts: ws.capabilities() } });
    await ws.close();
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: string };
    tell({ workspace: { error: message, remedy: hint } });
  }
}
