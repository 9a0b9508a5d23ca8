/**
 * Entering a call: from checked arguments to what a tool is given. Paths become
 * locations, rules decide, directories are granted, somebody is asked about what
 * is only read. Nothing is read or changed for the call itself here.
 */
import { type Decision, type Location, type Place, placeOf } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { nameOf } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { mustAsk, scopesOf } from "../hooks/approvals.ts";
import { askConfirm, denied, refusedBy } from "../hooks/confirm.ts";
import { tell } from "../hooks/events.ts";
import type { HookPreview } from "../hooks/hook.ts";
import type { Meant } from "../presets/preset.ts";
import { OWN_NAMES } from "../tools/names.ts";
import { newCallId } from "../journal/index.ts";
import { plainArguments } from "../tools/arguments.ts";
import type { Arguments } from "../tools/schema.ts";
import type { Seen } from "../tools/seen.ts";
import { escapeControls } from "../tools/text.ts";
import type { BatchTool, Call, ChangingTool, PathUse, Progress, ReadingTool } from "../tools/tool.ts";
import { rootsOf } from "./change.ts";
import type { Session } from "./session.ts";

/** What a caller may say besides the arguments. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Who calls: its reads, and its lines in logs, are its own. Default: the workspace's `agent`. */
  readonly agent?: string | undefined;
  /** The host's own record of the call, handed to hooks. */
  readonly toolCall?: unknown;
}

/** A tool whose own types are forgotten: it only ever receives what it made itself. */
export type AnyReading = ReadingTool<object, unknown>;
export type AnyChanging = ChangingTool<object, unknown, unknown>;
export type AnyTool = AnyReading | AnyChanging | BatchTool<object, unknown>;

/** The paths of a call, filled as they are judged, so that a failure can name them. */
export interface Places {
  readonly uses: PathUse[];
  readonly locations: Location[];
}

/** From checked arguments to what a tool is given: locations, rules, grants. */
export async function enter(
  session: Session,
  tool: AnyTool,
  args: object,
  { uses, locations }: Places,
  began: number,
  options: CallOptions,
  meant?: Meant,
): Promise<{ readonly call: Call; readonly ruled: Decision | undefined }> {
  uses.push(...tool.paths(args));
  for (const use of uses) locations.push(judge(session, use));
  const ruled = await rule(session, tool.name, uses, locations, args);
  if (session.permissions !== undefined) {
    for (const [index, use] of uses.entries())
      await admit(session, tool.name, use, locations[index] as Location, began, options);
  }
  const memory = session.reads.of(options.agent ?? session.agent);
  // Only a memory that is still to be loaded is waited for.
  const seen = memory instanceof Promise ? await memory : memory;
  return { call: makeCall(session, tool, args, locations, began, options, seen, meant), ruled };
}

/** What a change would do, for a hook that wants to see it before it answers; `fs`: instead of the workspace's. */
export async function previewed(
  session: Session,
  tool: AnyChanging,
  raw: Arguments,
  began: number,
  options: CallOptions,
  meant: Meant | undefined,
  fs?: FsBackend,
): Promise<HookPreview> {
  const args = tool.parse(plainArguments(tool.name, raw, tool.aliases));
  const { call } = await enter(session, tool, args, { uses: [], locations: [] }, began, options, meant);
  const own = fs === undefined ? call : { ...call, fs };
  const plan = await tool.plan(args, own);
  const path = call.locations[0]?.path ?? "";
  if (plan.settled !== undefined) {
    const title = `${tool.title}: nothing changes`;
    return { title, path, diff: "", originalContent: null, newContent: null, risk: "low" };
  }
  const { title, location, diff, originalContent, newContent, risk } = await tool.preview(plan, args, own);
  return { title, path: call.locations[location]?.path ?? path, diff, originalContent, newContent, risk };
}

/** A path argument becomes a location, or a refusal that names the argument. */
function judge(session: Session, use: PathUse): Location {
  try {
    return session.resolver.resolve(use.typed, use.intent);
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "INVALID_ARGUMENT") throw error;
    throw new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${use.argument}': ${error.message}.`, {
      complete: true,
      path: use.typed,
      details: { argument: use.argument },
    });
  }
}

/** What the rules say of these paths. @throws FilewrightError APPROVAL_DENIED where one forbids it */
async function rule(
  session: Session,
  tool: string,
  uses: readonly Pick<PathUse, "entry">[],
  locations: readonly Location[],
  args: object,
): Promise<Decision | undefined> {
  const { rules, fs, resolver } = session;
  const places: Place[] = [];
  if (rules.byPath) {
    for (const [index, at] of locations.entries())
      places.push(await placeOf(fs, at, uses[index]?.entry === true, resolver.display));
  }
  const decision = rules.decide(tool, places, args);
  // Before anything is read: a refusal must not tell what is in the file.
  if (decision === "deny") throw denied(`A rule forbids ${tool} here.`);
  return decision;
}

/** Sees to the grant of a path. @throws FilewrightError GRANT_DENIED and others */
async function admit(
  session: Session,
  tool: string,
  { intent, entry = false }: Pick<PathUse, "intent" | "entry">,
  at: Location,
  began: number,
  { signal, agent = session.agent }: CallOptions,
): Promise<void> {
  const { secret } = session.resolver;
  const wanted = { at, intent, entry, tool, began, secret, agent };
  await session.permissions?.admit(session.fs, wanted, signal);
}

function makeCall(
  session: Session,
  tool: AnyTool,
  args: object,
  locations: readonly Location[],
  began: number,
  options: CallOptions,
  seen: Seen,
  meant: Meant | undefined,
): Call {
  return {
    callId: tool.kind === "read" ? "" : newCallId(),
    agent: options.agent ?? session.agent,
    fs: session.fs,
    limits: session.limits,
    durability: session.durability,
    edit: session.edit,
    seen,
    signal: options.signal,
    locations,
    async locate(typed, intent) {
      const at = session.resolver.resolve(typed, intent);
      const ruled = await rule(session, tool.name, [], [at], args);
      if (ruled === "ask" && tool.kind === "read") await permit(session, tool, [at], options);
      await admit(session, tool.name, { intent }, at, began, options);
      return at;
    },
    found: session.resolver.resolve,
    grants: async () => (await session.permissions?.list()) ?? [],
    display: session.resolver.display,
    access: session.access,
    names: meant?.names ?? OWN_NAMES,
    brief: meant?.brief === true,
    ignoreFiles: meant?.ignoreFiles?.(session.ignoreFiles) ?? session.ignoreFiles,
    readers: session.readers,
    commands: session.commands,
    onProgress: options.onProgress,
  };
}

/** A reading tool is only asked about where a rule says so. */
export async function permit(
  session: Session,
  tool: AnyReading,
  locations: readonly Location[],
  { signal, agent = session.agent }: CallOptions,
): Promise<void> {
  const { approvals, notify } = session;
  const confirm = session.confirmFor(tool.name);
  const roots = rootsOf(locations);
  if (!mustAsk("ask", confirm, approvals, tool.name, roots) || confirm === undefined) return;
  const [at] = locations;
  const [path, title] = [at?.path ?? "", escapeControls(`${tool.title}: ${at?.typed ?? tool.name}`)];
  tell(notify, { type: "approval_asked", tool: tool.name, path, title });
  const reply = await askConfirm(
    confirm,
    {
      type: "info",
      title,
      tool: tool.name,
      fileName: at === undefined ? "" : nameOf(at.path),
      fileDiff: "",
      originalContent: null,
      newContent: null,
      path,
      paths: locations.map((one) => one.path),
      risk: "low",
      ...(agent === undefined ? {} : { agent }),
      scopes: scopesOf(tool.name, roots, false),
    },
    signal,
  );
  const { outcome } = reply;
  const approval = approvals.remember(reply, tool.name, roots);
  const lasting = approval === undefined ? {} : { approval };
  tell(notify, { type: "approval_answered", tool: tool.name, path, outcome, ...lasting });
  if (outcome === "cancel" || outcome === "modify_with_editor") throw refusedBy(reply);
}
