/** Makes the state that all calls of a workspace share, from its options and its files. */
import type { Files } from "../backends/files.ts";
import type { SandboxPolicy } from "../policy/index.ts";
import { shortcutsOf } from "../backends/abilities.ts";
import type { SandboxProvider } from "../backends/sandbox/sandbox.ts";
import { IGNORE_FILES } from "../backends/walk/ignore-files.ts";
import { engine } from "../engine/current.ts";
import { lazily } from "../engine/lazy.ts";
import { makeApprovals } from "../hooks/approvals.ts";
import { ApproverGroups } from "../hooks/approver-groups.ts";
import { approversFor, type BoundHook } from "../hooks/run.ts";
import { makeRecordLog, type RecordLog } from "../log/index.ts";
import { makeReads } from "../pipeline/past/reads.ts";
import { CallSlots } from "../pipeline/scheduling/admission.ts";
import { RunningCalls } from "../pipeline/scheduling/running.ts";
import type {
  Session,
  SessionCommands,
  SessionFiles,
  SessionGates,
  SessionObservers,
  Stages,
  ToolSettings,
} from "../pipeline/session.ts";
import { makeGates } from "../pipeline/sources.ts";
import { makeViews, type Views } from "../pipeline/views.ts";
import type { GuardLevel, Preset } from "../presets/index.ts";
import { readersFor } from "../readers/index.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { DEFAULT_LIMITS, type Limits, withoutTokenizer, type WorkspaceLimits } from "../tools/lib/limits.ts";
import { type CountTokens, countTokensWith } from "../tools/lib/tokens.ts";
import type { AccessSummary } from "../tools/lib/tool.ts";
import type { OpenedAccess } from "./access.ts";
import { journalPlaceOf, keepsOwnJournal, loadStorages, type OpenedBackend } from "./backend.ts";
import type { CheckedOptions } from "./check.ts";
import { commandSandboxOf } from "./commands.ts";
import { makeConfine } from "./confine.ts";
import type { MadeParts } from "./made.ts";
import { confinementOf, type LocalFacts, lockerOfBackend, type LocalStorage } from "./host.ts";
import { nextWorkspaceNumber } from "./number.ts";
import type { ChosenStores } from "./shared/stores.ts";
import { RenderingCache } from "../tools/render/rendering-cache.ts";

const commandTool = lazily("run_command", () => import("../tools/run_command.ts"));
const confinedFiles = lazily("confined files", () => import("../backends/confined/sandboxed.ts"));

/** What the state of a workspace is made from. */
export interface SessionParts {
  readonly opened: OpenedBackend;
  readonly preset: Preset | undefined;
  readonly hooks: readonly BoundHook[];
  readonly access: OpenedAccess;
  readonly guard: GuardLevel;
  readonly chosen: ChosenStores;
  /** Takes what the workspace makes and has to end. */
  readonly made: MadeParts;
}

/** The state of a new workspace, and how its files are protected. */
export interface MadeSession {
  readonly session: Session;
  /** Undefined where the files are not on the local disk. */
  readonly facts: LocalFacts | undefined;
}

/** Makes the state of a workspace. @throws FilewrightError SANDBOX_SETUP_FAILED and others */
export async function makeSession(parts: SessionParts): Promise<MadeSession> {
  const { opened, preset, hooks, access, guard, chosen, made } = parts;
  const { given, storage, local } = opened;
  const { policy } = access.resolver;
  const sandboxFor = await commandSandboxOf(given, access.places);
  const sandbox = sandboxFor(policy, access.rules);
  const toolFor = sandbox && (await commandTool()).runCommandToolFor;
  const commands = { sandbox, sandboxFor, toolFor };
  const log = makeRecordLog({
    ...journalPlaceOf(opened, policy, made),
    cwd: policy.cwd,
    keep: given.history ?? true,
    durable: given.durability === "durable",
  });
  const { files, facts } = await makeFiles(parts, commands);
  const { stages, forking } = await storageParts(opened, log, access.resolver.mayWrite);
  const session: Session = Object.freeze({
    caller: {
      workspace: nextWorkspaceNumber(),
      tenant: given.tenant,
      agent: given.agent,
      by: undefined,
      key: "",
    },
    files,
    gates: gatesOf(parts),
    hooks: { bound: hooks, onError: given.onHookError },
    observers: observersOf(given),
    past: { log, rollbacks: log.rollbacks, reads: makeReads(chosen.reads) },
    settings: settingsOf(
      given,
      guard,
      effectiveLimitsOf(given.limits, preset, shortcutsOf(storage).maxAnswerBytes),
      countTokensWith(given.limits?.tokens ?? preset?.limits.tokens),
    ),
    commands,
    scheduling: {
      running: new RunningCalls(),
      slots: given.concurrency === undefined ? undefined : new CallSlots(given.concurrency),
      locker: lockerOfBackend(storage, local),
      budget: undefined,
    },
    staging: {
      stages,
      stage: undefined,
      charge: undefined,
      unstaged: undefined,
    },
    forks: { storage: forking, depth: 0 },
    stores: chosen.stores,
  });
  return { session, facts };
}

/** Confines the files of a workspace to its policy. */
async function makeFiles(
  { opened, access, made }: SessionParts,
  { sandbox, sandboxFor }: SessionCommands,
): Promise<{ readonly files: SessionFiles; readonly facts: LocalFacts | undefined }> {
  const { given, shared, storage, state } = opened;
  const { resolver, rules, repositories } = access;
  const { policy } = resolver;
  const { confine, factsOf } = await confinerOf(opened);
  const fs = confine(policy);
  // The host closes its own storage.
  made.add(() => fs.close());
  const views = makeViews(fs, (globs) => confine({ ...policy, deny: [...policy.deny, ...globs] }));
  made.add(() => views.close());
  const searches =
    shared === undefined ? undefined : await (await loadStorages()).openSearches(given, shared);
  made.add(() => searches?.release());
  const momentsFor = (within: SandboxPolicy, its: Views): SessionFiles["enterMoment"] =>
    searches?.momentsFor(within, its);
  const facts = factsOf(fs);
  const told = given.access?.deny ?? [];
  const running = { engine: engine().info, confinement: confinementOf(storage), state };
  const summarize = (
    { policy: within }: { readonly policy: SandboxPolicy },
    deny: readonly string[],
    provider: SandboxProvider | undefined,
  ): AccessSummary => accessSummaryOf(within, deny, { ...running, sandbox: sandboxFacts(facts, provider) });
  const files: SessionFiles = {
    fs,
    resolver,
    views,
    enterMoment: momentsFor(policy, views),
    repositories,
    access: summarize(resolver, told, sandbox),
    confine: makeConfine({
      files: storage,
      made,
      rules,
      commandsFor: sandboxFor,
      confine,
      momentsFor,
      summarize: (both, wanted, ran) => summarize(both, [...told, ...wanted.deny], ran),
    }),
    release: () => made.end(),
  };
  return { files, facts };
}

/** How files are confined to a policy. */
interface Confiner {
  confine(policy: SandboxPolicy): Files;
  /** Returns the protection of confined files on the local disk; undefined for other files. */
  factsOf(confined: Files): LocalFacts | undefined;
}

/** Returns how the files are confined: by the disk itself, or by checks before each use. */
async function confinerOf({ disk, storage }: OpenedBackend): Promise<Confiner> {
  const own = disk && shortcutsOf(disk).confine;
  if (own !== undefined)
    return { confine: own, factsOf: (confined) => (confined as LocalStorage).capabilities() };
  const { SandboxedBackend } = await confinedFiles();
  return { confine: (within) => new SandboxedBackend(storage, within), factsOf: () => undefined };
}

function gatesOf({ opened: { given }, hooks, access, guard, chosen }: SessionParts): SessionGates {
  const { rules, permissions, prompting, resolver } = access;
  const groups = new ApproverGroups();
  const gates = {
    rules,
    guard,
    permissions,
    prompting,
    approvals: makeApprovals(() => Date.now(), { ...chosen.stores.approvals, bases: resolver.policy }),
    hasApprover: given.confirm !== undefined || hooks.some(({ hook }) => hook.stage === "confirm"),
    requireApproval: given.requireApproval === true,
    reviewsAfter: given.review === "after",
    confirmFor: (tool: string, calledAs?: string) =>
      groups.of(approversFor(hooks, tool, given.confirm, calledAs)),
    notify: given.notify,
  };
  return makeGates(gates, { hooks, resolver });
}

function observersOf({ observers = [] }: CheckedOptions): SessionObservers {
  return { all: Object.freeze([...observers]), hashes: observers.some(({ hashes }) => hashes === true) };
}

function settingsOf(
  given: CheckedOptions,
  guard: GuardLevel,
  limits: Limits,
  tokens: CountTokens,
): ToolSettings {
  return {
    limits,
    tokens,
    durability: given.durability ?? "atomic",
    edit: Object.freeze({ match: given.edit?.match ?? "whitespace" }),
    acceptsQuotes: given.guard === undefined && guard === "refuse",
    ignoreFiles: Object.freeze([...(given.ignoreFiles ?? IGNORE_FILES)]),
    readers: readersFor({ readers: given.readers }),
    renderings: new RenderingCache(),
    findFiles: given.knows !== undefined && given.knows !== false,
    knows: given.knows === true,
  };
}

/** Returns the stages of the calls over a storage, and the storage where it makes forks itself. */
async function storageParts(
  { given, shared }: OpenedBackend,
  log: RecordLog,
  isMine: (path: string) => boolean,
): Promise<{ readonly stages: Stages | undefined; readonly forking: Session["forks"]["storage"] }> {
  const { storage } = given;
  if (shared === undefined || storage === undefined) return { stages: undefined, forking: undefined };
  const { stagesOf, isForking } = await loadStorages();
  const stages = stagesOf(storage, shared, { log, isMine, keepsOwn: keepsOwnJournal(given) });
  return { stages, forking: isForking(storage) ? storage : undefined };
}

const UNSET_IMAGE_LIMITS: Pick<Limits, "imageBase64Bytes" | "imagePixels"> = {
  imageBase64Bytes: Number.MAX_SAFE_INTEGER,
  imagePixels: Number.MAX_SAFE_INTEGER,
};

function effectiveLimitsOf(
  given: Partial<WorkspaceLimits> | undefined,
  preset: Preset | undefined,
  bound: number,
): Limits {
  const set = Object.entries(withoutTokenizer(given)).filter(([, value]) => value !== undefined);
  // A host that sets a size for images knows what its model accepts, so no other limit of images applies.
  const ofImages = given?.imageBytes === undefined ? {} : UNSET_IMAGE_LIMITS;
  const limits = {
    ...DEFAULT_LIMITS,
    ...withoutTokenizer(preset?.limits),
    ...ofImages,
    ...Object.fromEntries(set),
  };
  // An option of the workspace cannot exceed the bound of the storage's own policy.
  return Object.freeze({ ...limits, outputBytes: Math.min(limits.outputBytes, bound) });
}

function sandboxFacts(
  facts: LocalFacts | undefined,
  provider: SandboxProvider | undefined,
): AccessSummary["sandbox"] {
  return Object.freeze({
    fs: facts?.kernel.files ?? "none",
    net: provider?.status.network ?? "none",
    ...withoutUndefined({ commands: provider?.status }),
  });
}

function accessSummaryOf(
  { cwd, read, write, readOnly, paths }: SandboxPolicy,
  deny: readonly string[],
  { state, ...running }: Pick<AccessSummary, "engine" | "confinement" | "state" | "sandbox">,
): AccessSummary {
  return Object.freeze({
    cwd,
    readRoots: read,
    writeRoots: write,
    deny: Object.freeze([...new Set(deny)]),
    readOnly,
    ...running,
    ...withoutUndefined({ paths, state }),
  });
}
