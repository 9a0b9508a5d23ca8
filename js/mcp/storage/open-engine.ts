/**
 * Opens the engine behind `--storage`: it is tried once, at the start, and opens the storage of each workspace.
 *
 * An engine that cannot be used ends the server before it listens, in one line that contains no password.
 */
import { messageOf } from "../../engine/thrown.ts";
import { FilewrightError, makeError } from "../../engine/errors.ts";
import type { Environment, StorageEngine, WorkspaceName, WorkspaceQuota } from "./engine.ts";
import type { StorageTarget } from "./url.ts";

/** The time in milliseconds for which the start waits for the first answers of an engine. */
const MAX_START_MS = 30_000;

/**
 * Connects to an engine and tries it with the workspace `first`, which is made when it is missing. With a `quota`, which
 * Postgres alone keeps, each workspace gets these limits when it is opened.
 * @throws FilewrightError whose message and hint contain no password
 */
export async function openEngine(
  target: StorageTarget,
  first: WorkspaceName,
  environment: Environment,
  quota?: WorkspaceQuota,
): Promise<StorageEngine> {
  const secrets = secretsOf(target, environment);
  let engine: StorageEngine | undefined;
  // Storages hash contents and decode texts with the engine of this package.
  await import("../../engine/index.node.ts");
  try {
    engine = await (target.engine === "postgres"
      ? (await import("./postgres.ts")).postgresEngine(target, quota)
      : (await import("./s3.ts")).s3Engine(target, environment));
    const { open } = engine;
    const storage = await open(first);
    const facts = await storage.probe({ signal: AbortSignal.timeout(MAX_START_MS) });
    await storage.close();
    // What was found out about the engine holds for all of its workspaces.
    return { ...engine, open: async (name) => Object.assign(await open(name), { probe: async () => facts }) };
  } catch (error) {
    await engine?.close().catch(() => undefined);
    throw startError(error, target, secrets);
  }
}

function secretsOf(target: StorageTarget, environment: Environment): readonly string[] {
  const names = ["PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
  const set = names.map((name) => environment[name]).filter((one) => one !== undefined && one !== "");
  return [...(target.engine === "postgres" ? target.secrets : []), ...set] as readonly string[];
}

/** Returns the error of an engine that cannot be used, with the address and a remedy. */
function startError(error: unknown, target: StorageTarget, secrets: readonly string[]): FilewrightError {
  const { code, message, hint } =
    error instanceof FilewrightError
      ? error
      : {
          code: "IO_ERROR" as const,
          message: messageOf(error),
          hint: undefined,
        };
  // What is wrong with the command line or the installation has nothing to do with the address.
  const isAboutEngine = code !== "INVALID_ARGUMENT" && hint?.startsWith("npm install") !== true;
  const shown = isAboutEngine ? `the storage ${target.shown} cannot be used: ${message}` : message;
  return makeError(code, withoutSecrets(shown, secrets), {
    hint: hint === undefined ? remedyOf(code, target) : withoutSecrets(hint, secrets),
    details: { reason: "storage" },
  });
}

function remedyOf(code: string, target: StorageTarget): string | undefined {
  if (code === "PERMISSION_DENIED")
    return target.engine === "postgres"
      ? "check the user in --storage and the password in PGPASSWORD"
      : "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  return ["IO_ERROR", "TIMEOUT", "CANCELLED", "NOT_FOUND"].includes(code)
    ? "check the address in --storage, and that the engine runs"
    : undefined;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}
