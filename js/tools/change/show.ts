/** Makes of a list of changes what a reviewer sees, and the list that is left after his choice. */
import { entryPath } from "../../backends/fallback/fallback.ts";
import { engine } from "../../engine/current.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { Yielder } from "../../engine/yielder.ts";
import type { Location } from "../../policy/index.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { readWholeFile } from "../lib/contents.ts";
import type { Act, Call, Proposal } from "../lib/tool.ts";
import {
  currentVersionsOf,
  formatTreeCounts,
  hashOfList,
  incompleteTreeReason,
  previewDiff,
  readBytesForPreview,
  readTreeFacts,
  textIfDecodableAsync,
} from "../render/preview.ts";
import type {
  BaseVersion,
  Change,
  ChosenFiles,
  Preview,
  PreviewChange,
  Put,
  Remove,
  Transfer,
} from "./change.ts";
import type { ChangingPlan } from "./make.ts";

/** Returns what a reviewer sees of a plan. */
export async function show(plan: ChangingPlan, call: Call): Promise<Preview> {
  return plan.kind === "act" ? showAct(plan, call) : showList(plan, call);
}

async function showAct(plan: Act<unknown>, call: Call): Promise<Preview> {
  const shown = await plan.changes(call);
  const changes = shown.map(({ change }) => change);
  const [first, second] = changes;
  const alone = plan.showsContent && second === undefined ? first?.contents?.after : undefined;
  const hashes = changes.flatMap(({ kind, hash }) => (kind === "delete" ? "-" : (hash ?? [])));
  return withoutUndefined({
    ...plan.heading,
    diff: shown.map(({ text }) => text).join(""),
    originalContent: null,
    newContent: alone === undefined || alone === null ? null : await textIfDecodableAsync(alone),
    hash: plan.of === "contents" ? hashOfList(hashes) : undefined,
    base: await currentVersionsOf(call.fs, plan.base),
    changes,
  });
}

/** What a reviewer sees of one change. */
interface Shown {
  readonly change: Change;
  /** Its paths; none for the removal of a file that is moved, which is shown where it goes. */
  readonly paths: readonly PreviewChange[];
  /** The contents before and after, as far as they are shown. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** True when a diff compares these contents. */
  readonly isCompared: boolean;
  /** The hash of the new content: `-` for a removed file, undefined for what has no content in the list. */
  readonly hash: string | undefined;
  readonly base: readonly BaseVersion[];
  readonly counts: string;
  readonly incomplete: string | undefined;
}

/** Nothing shown besides the paths. */
const NOTHING_MORE = {
  before: null,
  after: null,
  isCompared: false,
  hash: undefined,
  base: [],
  counts: "",
  incomplete: undefined,
} as const;

async function showList(plan: Proposal<unknown>, call: Call): Promise<Preview> {
  const { reading } = plan;
  const changes = reading === "list" ? plan.changes : reading.order(plan.changes);
  const yielder = new Yielder({ signal: call.signal });
  const shown: Shown[] = [];
  for (const change of changes) {
    await yielder.yieldIfDue();
    shown.push(await showOne(change, call));
  }
  const paths = shown.flatMap((one) => one.paths);
  const first = shown.find((one) => one.paths.length > 0);
  const { before = null, after = null } = first?.paths[0]?.contents ?? first ?? {};
  const own = reading === "list" ? undefined : await reading.diff(plan.changes);
  const newContent = after === null ? null : await textIfDecodableAsync(after);
  const hashes = shown.flatMap(({ hash }) => hash ?? []);
  return withoutUndefined({
    ...plan.about({ changes: paths, counts: shown.map(({ counts }) => counts).join("") }),
    diff: own ?? (await diffOf(shown, yielder)),
    originalContent: before === null ? null : await textIfDecodableAsync(before),
    newContent,
    // What is no text is shown as the bytes of one file. A tool with a diff of its own changes texts.
    newBytes:
      reading === "list" && first?.hash !== undefined && newContent === null
        ? (after ?? undefined)
        : undefined,
    hash: plan.of === "contents" ? hashOfList(hashes) : undefined,
    base: [...plan.base, ...shown.flatMap(({ base }) => base)],
    changes: paths,
    incomplete: shown.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
  });
}

async function diffOf(shown: readonly Shown[], yielder: Yielder): Promise<string> {
  let diff = "";
  for (const { change, before, after, isCompared } of shown) {
    await yielder.yieldIfDue();
    if (isCompared) diff += await previewDiff(before, after ?? EMPTY_BYTES, change.name);
  }
  return diff;
}

function showOne(change: Change, call: Call): Promise<Shown> | Shown {
  switch (change.do) {
    case "put":
      return showPut(change, call);
    case "remove":
      return change.type === "dir" ? showRemovedTree(change, call) : showRemoved(change, call);
    case "mkdir": {
      const made: PreviewChange = { path: change.path, kind: "create", type: "dir" };
      return { ...NOTHING_MORE, change, paths: [made] };
    }
    default:
      return showTransfer(change, call);
  }
}

async function showPut(change: Put, call: Call): Promise<Shown> {
  const { path, was, from, now } = change;
  const after = now.bytes;
  const hash = await now.hash;
  const before = await contentBefore(change, call);
  const source = from ?? was;
  const isModeNew = now.mode !== undefined && Number.parseInt(now.mode, 8) !== source?.stat?.mode;
  const shown: PreviewChange = withoutUndefined({
    path,
    kind: from === null ? (was === null ? ("create" as const) : ("edit" as const)) : ("move" as const),
    type: "file" as const,
    from: from?.path,
    hash,
    mode: isModeNew ? now.mode : undefined,
    contents: { before: from === null ? before : from.bytes, after },
  });
  return { ...NOTHING_MORE, change, paths: [shown], before, after, isCompared: true, hash };
}

/** Returns the content that a change replaces. A large file was not read for the plan, but the reviewer must see it. */
async function contentBefore({ path, was }: Put, call: Call): Promise<Uint8Array | null> {
  if (was === null || was.bytes !== null) return was?.bytes ?? null;
  const at = call.locations.find((one) => one.path === path) as Location;
  return (await readWholeFile(call, at, call.settings.limits.grepFileBytes)).bytes;
}

async function showRemoved(change: Remove, call: Call): Promise<Shown> {
  const { path, type, was } = change;
  const gone = { path, kind: "delete" as const, type: type === "symlink" ? type : ("file" as const) };
  const isKnown = was.bytes !== null;
  const before = isKnown || type === "symlink" ? was.bytes : await readBytesForPreview(call, path);
  const contents = { before, after: null };
  const shown = isKnown ? { ...gone, contents } : gone;
  return {
    ...NOTHING_MORE,
    change,
    paths: change.isMoved ? [] : [shown],
    ...contents,
    isCompared: before !== null,
    hash: isKnown ? "-" : undefined,
  };
}

async function showRemovedTree(change: Remove, call: Call): Promise<Shown> {
  const tree = await readTreeFacts(call, await entryPath(call.fs, change.path));
  return {
    ...NOTHING_MORE,
    change,
    paths: tree.entries.map(({ path, type }) => ({ path, kind: "delete", type })),
    base: tree.base,
    counts: ` (${formatTreeCounts(tree)})`,
    incomplete: incompleteTreeReason(tree),
  };
}

async function showTransfer(change: Transfer, call: Call): Promise<Shown> {
  const { from, type, over } = change;
  const to = await entryPath(call.fs, change.path);
  const moved = (path: string): string => `${to}${path.slice(from.length)}`;
  const pathOf = (one: { readonly path: string; readonly type: PreviewChange["type"] }): PreviewChange => ({
    path: moved(one.path),
    from: one.path,
    kind: change.do === "copy" ? "copy" : "move",
    type: one.type,
  });
  if (type !== "dir") {
    const contents = await transferredContents(change, to, call);
    return { ...NOTHING_MORE, change, paths: [pathOf({ path: from, type })], ...contents };
  }
  const tree = await readTreeFacts(call, from);
  // When directories are merged, the approval requires that every file to be replaced is unchanged since the preview.
  const replaced = over === "dir" ? tree.entries.slice(1).map(({ path }) => moved(path)) : [];
  return {
    ...NOTHING_MORE,
    change,
    paths: tree.entries.map(pathOf),
    base: [...tree.base, ...(await currentVersionsOf(call.fs, replaced))],
    counts: ` (${formatTreeCounts(tree)})`,
    incomplete: incompleteTreeReason(tree),
  };
}

/** Returns the contents of a file that is copied, or moved over another one. */
async function transferredContents(
  { do: verb, from, type, over }: Transfer,
  to: string,
  call: Call,
): Promise<Pick<Shown, "before" | "after" | "isCompared">> {
  const isReplaced = over === "file" || (verb === "copy" && over === "symlink");
  const before = isReplaced ? await readBytesForPreview(call, to) : null;
  const isShown = type === "file" && (verb === "copy" || before !== null);
  const after = isShown ? await readBytesForPreview(call, from) : null;
  return { before, after, isCompared: after !== null };
}

/** Returns true for a plan of contents, among which a reviewer can choose. */
export function isRevisable(plan: ChangingPlan): plan is Proposal<unknown> {
  return plan.kind === "changes" && plan.of === "contents";
}

/**
 * Returns a plan with what a reviewer chose of its contents: other ones, and files that are left as they are. `isSelection`
 * is true where the contents consist of planned lines and lines that were there before. A plan without contents stays.
 */
export async function choose(
  plan: ChangingPlan,
  files: ChosenFiles,
  isSelection: boolean,
): Promise<ChangingPlan> {
  if (!isRevisable(plan)) return plan;
  const isLeft = (path: string): boolean => files.get(path) === null;
  // A file that is not moved after all stays where it is.
  const unmoved = new Set(
    plan.changes.map((one) => (one.do === "put" && isLeft(one.path) ? one.from?.path : undefined)),
  );
  const kept = plan.changes.filter(({ path }) => !isLeft(path) && !unmoved.has(path));
  const changes = await Promise.all(kept.map((change) => withContent(change, files.get(change.path))));
  return { ...plan, changes, by: isSelection && plan.by !== "reviewer" ? "selection" : "reviewer" };
}

/** Returns a change with the content that a reviewer chose; the change itself where he chose none. */
async function withContent(change: Change, bytes: Uint8Array | null | undefined): Promise<Change> {
  if (change.do !== "put" || bytes === undefined || bytes === null) return change;
  const hash = await engine().onThreads.sha256(bytes);
  return { ...change, now: { ...change.now, bytes, hash, diff: undefined } };
}
