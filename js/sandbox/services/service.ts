/**
 * The part that the drivers of sandbox services share. A service runs commands in a sandbox with files of its own:
 * nothing of the workspace is there, so nothing of it can be read or changed.
 *
 * The answers of a service are not trusted: they are checked, their size is bounded, and a command counts as
 * ended only if the service says how it ended. In any other case the sandbox is deleted with all that runs in it, and
 * the next command gets a new one.
 */
import { checkSignal } from "../../backends/failure.ts";
import type {
  CommandPolicy,
  SandboxCommand,
  SandboxOutcome,
  SandboxProvider,
  SandboxStatus,
} from "../../backends/sandbox/sandbox.ts";
import { FilewrightError, makeError } from "../../engine/errors.ts";
import { fromBase64 } from "../../engine/wire/bytes.ts";
import { type OptionalOption, text } from "../../schema/option.ts";

/** A sandbox of a service. It exists, and may cost money, until it is closed or its service ends it. */
export interface ServiceSandbox extends SandboxProvider, AsyncDisposable {
  /** Deletes the sandbox with its files and all that runs in it. @throws FilewrightError IO_ERROR */
  close(): Promise<void>;
}

/** Sends requests: the global `fetch`, or a function of the host. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>;

/** One service. `S` identifies a sandbox of it. */
export interface ServiceDriver<S> {
  readonly tier: string;
  readonly network: NonNullable<SandboxStatus["network"]>;
  /** The directory of commands. */
  readonly directory: string;
  create(): Promise<S>;
  remove(sandbox: S): Promise<void>;
  /**
   * Runs a command and returns its exit code. Aborting `signal` ends the wait and need not end the command.
   * @throws {@link garbled} for an answer that is not of the protocol, {@link cutOff} for one that ends too early
   */
  run(sandbox: S, command: ServiceCommand, signal: AbortSignal): Promise<number>;
}

/** A command for a driver. */
export interface ServiceCommand extends Pick<SandboxCommand, "argv" | "env" | "timeoutMs"> {
  /** Takes output in the order in which it comes. */
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
}

/** How long the deletion of a sandbox may take, in milliseconds. */
const MAX_REMOVE_MS = 10_000;
/** How long the creation of a sandbox may take, in milliseconds. */
const MAX_CREATE_MS = 120_000;
/** The maximum size of one message of a service, in characters or bytes. Messages with output are far smaller. */
export const MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024;

/** An address without a trailing slash to which paths are appended. */
export const addressOption: OptionalOption<string> = text({
  test: (url) =>
    /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/u.test(url)
      ? undefined
      : "must begin with https:// (http:// only for this machine), because a token is sent there",
});

/**
 * Creates a sandbox of a service.
 * @throws FilewrightError SANDBOX_SETUP_FAILED where the service makes none
 */
export async function openService<S>(
  driver: ServiceDriver<S>,
  degrade: "refuse" | "allow" | undefined,
): Promise<ServiceSandbox> {
  let current: Promise<S> | undefined = createSandbox(driver);
  let isClosed = false;
  await current;
  /** Deletes a sandbox whose command did not end as the protocol says. */
  const discard = async (sandbox: Promise<S>): Promise<void> => {
    if (current === sandbox) current = undefined;
    await within(MAX_REMOVE_MS, driver.remove(await sandbox)).catch(() => {
      throw makeError(
        "IO_ERROR",
        `the sandbox of ${driver.tier} could not be deleted, so the command may still run`,
        {
          hint: "delete the sandbox in the service's own console",
        },
      );
    });
  };
  const run = async (command: SandboxCommand): Promise<SandboxOutcome> => {
    checkSignal(command.signal, command.cwd);
    if (isClosed) throw makeError("SANDBOX_SETUP_FAILED", `the sandbox of ${driver.tier} was closed`, {});
    current ??= createSandbox(driver);
    const sandbox = current;
    const opened = await sandbox.catch((error: unknown) => {
      if (current === sandbox) current = undefined;
      throw error;
    });
    // The creation may have taken long.
    checkSignal(command.signal, command.cwd);
    return runOnService(driver, opened, command, () => discard(sandbox));
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    const sandbox = current;
    if (sandbox === undefined) return;
    await discard(sandbox).catch((error: unknown) => {
      // It exists still, so that another call of `close` can delete it.
      current ??= sandbox;
      throw error;
    });
  };
  const provide = (policy: CommandPolicy | undefined): SandboxProvider => ({
    status: Object.freeze({
      tier: driver.tier,
      files: "enforced",
      network: driver.network,
      policy: "enforced",
      processes: "partial",
      limits: "none",
      workspaceFiles: "absent",
    }),
    degrade,
    within: (next) => Object.freeze(provide(next)),
    async run(command) {
      if (policy !== undefined && command.cwd !== policy.cwd) {
        throw new FilewrightError(
          "INVALID_ARGUMENT",
          "Invalid argument 'cwd': the sandbox has files of its own, without the directories of this workspace.",
          {
            complete: true,
            hint: `leave out cwd; commands start in ${driver.directory} of the sandbox`,
            details: { argument: "cwd" },
          },
        );
      }
      return run(command);
    },
  });
  return Object.freeze<ServiceSandbox>({ ...provide(undefined), close, [Symbol.asyncDispose]: close });
}

async function runOnService<S>(
  driver: ServiceDriver<S>,
  sandbox: S,
  command: SandboxCommand,
  discard: () => Promise<void>,
): Promise<SandboxOutcome> {
  const [out, err] = [new CappedOutput(command.maxOutputBytes), new CappedOutput(command.maxOutputBytes)];
  const stop = new AbortController();
  const cancel = (): void => stop.abort();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    stop.abort();
  }, command.timeoutMs);
  command.signal?.addEventListener("abort", cancel, { once: true });
  const outcome = (exitCode: number | null, note = ""): SandboxOutcome => ({
    exitCode,
    signal: null,
    timedOut: exitCode === null,
    truncated: out.isTruncated || err.isTruncated,
    stdout: out.text(),
    stderr: `${err.text()}${note}`,
  });
  try {
    const { argv, env, timeoutMs } = command;
    const driven = driver.run(
      sandbox,
      { argv, env, timeoutMs, stdout: (bytes) => out.add(bytes), stderr: (bytes) => err.add(bytes) },
      stop.signal,
    );
    const exitCode = await Promise.race([driven, rejectedOn(stop.signal)]);
    return outcome(exitCode);
  } catch (error) {
    await discard();
    checkSignal(command.signal, command.cwd);
    if (timedOut) return outcome(null, DISCARDED_NOTE);
    if (error instanceof FilewrightError) throw error;
    throw cutOff(driver.tier);
  } finally {
    clearTimeout(timer);
    command.signal?.removeEventListener("abort", cancel);
    stop.abort();
  }
}

/** The text after the errors of a command whose sandbox was deleted. */
const DISCARDED_NOTE = "\n[the sandbox was deleted with the command; the next command gets a new one]\n";

/** Returns a promise that rejects when the signal aborts, for requests that ignore the signal. */
function rejectedOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
}

async function createSandbox<S>(driver: ServiceDriver<S>): Promise<S> {
  const made = driver.create();
  try {
    return await within(MAX_CREATE_MS, made);
  } catch (error) {
    // A sandbox that exists after all is not left to cost money.
    void made.then((late) => driver.remove(late)).catch(() => undefined);
    const why = error instanceof FilewrightError ? error.message : "it cannot be reached";
    throw new FilewrightError("SANDBOX_SETUP_FAILED", `No sandbox of ${driver.tier}: ${why}.`, {
      complete: true,
      hint: "check the address and the key of the service",
    });
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(makeError("TIMEOUT", "it did not answer in time", {})), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Returns the error for an answer that is not of the protocol. Its text is not repeated: anybody may have written it. */
export function garbled(tier: string, what: string): FilewrightError {
  return makeError(
    "IO_ERROR",
    `${tier} answered what its protocol does not have (${what}), so the command was ended`,
    {
      hint: "look at what it changed before you run it again",
    },
  );
}

/** Returns the error for an answer that ended before the command. */
export function cutOff(tier: string): FilewrightError {
  return makeError("IO_ERROR", `${tier} did not say how the command ended, so it was ended`, {
    hint: "look at what it changed before you run it again",
  });
}

/**
 * Sends a request and returns the answer, whose status is one of those of success.
 * @throws FilewrightError IO_ERROR naming the status
 */
export async function ask(send: SendRequest, url: string, init: RequestInit): Promise<Response> {
  const response = await send(url, { redirect: "error", ...init });
  if (response.ok) return response;
  await response.body?.cancel();
  throw makeError("IO_ERROR", `it answered with the status ${response.status}`, {});
}

/** Reads a small JSON object. @throws FilewrightError IO_ERROR for any other answer */
export async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const value = parseObject(new TextDecoder().decode(await readBounded(response)));
  if (value === undefined) throw makeError("IO_ERROR", "its answer is not an object in JSON", {});
  return value;
}

/** Reads an answer of at most {@link MAX_MESSAGE_BYTES}. @throws FilewrightError IO_ERROR for a longer one */
async function readBounded(response: Response): Promise<Uint8Array> {
  const body = new Uint8Array(MAX_MESSAGE_BYTES);
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    if (size + part.value.length > body.length) {
      await reader?.cancel();
      throw makeError("IO_ERROR", "its answer is too long", {});
    }
    body.set(part.value, size);
    size += part.value.length;
  }
  return body.subarray(0, size);
}

/** Returns the object in a JSON text, or undefined. */
export function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the bytes of a base64 text, or undefined for any other value. */
export function bytesOfBase64(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return fromBase64(value);
  } catch {
    return undefined;
  }
}

/** Returns the part of an address that names a sandbox. @throws FilewrightError IO_ERROR for an invalid one */
export function checkId(id: unknown): string {
  if (typeof id === "string" && /^[\w-]{1,128}$/u.test(id)) return id;
  throw makeError("IO_ERROR", "its answer does not name a sandbox", {});
}

/** Returns the arguments with which a shell runs a program, so that a missing program is exit code 127. */
export function throughShell(argv: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", 'exec "$@"', "sh", ...argv];
}

/** Keeps the beginning of an output. */
class CappedOutput {
  readonly #most: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  isTruncated = false;

  constructor(most: number) {
    this.#most = most;
  }

  add(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, this.#most - this.#size);
    if (kept.length > 0) this.#chunks.push(kept);
    this.#size += kept.length;
    this.isTruncated ||= kept.length < bytes.length;
  }

  text(): string {
    const decoder = new TextDecoder();
    const parts = this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true }));
    return parts.join("") + decoder.decode();
  }
}
