/** `access_info`: where this workspace may read and write. */
import { exactly, named } from "./lib/exact.ts";
import type { AccessInfoArgs, AccessInfoData, GrantedDirectory } from "./generated/types.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { choice, text, texts } from "./lib/shared.ts";
import { displayPath } from "../backends/windows-paths.ts";
import { escapeControls } from "../engine/escape.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { AccessSummary, DecidingSource, ReadingTool } from "./lib/tool.ts";

const DESCRIPTION_BY_SOURCE: Readonly<Record<DecidingSource, string>> = {
  framework: "your application may ask its user",
  hooks: "a hook may stop the call or change it",
  policy: "paths outside the directories above, denied and protected ones are refused",
  rules: "rules for tools and paths allow, ask or refuse",
  grants: "a directory or a secret may need a person's grant",
  default: "a person is asked about every other change",
  places: "some project files always need a person's approval",
  approvals: "an earlier approval may cover the call",
  approver: "a person answers",
  guard: "a change must not lose content that you have not read",
};

const inputSchema = object({}, []);

const outputSchema = object(
  {
    cwd: text("The directory that relative paths start from."),
    read_roots: {
      type: ["array", "null"],
      items: { type: "string" },
      description: "What may be read; null: everything.",
    },
    write_roots: texts("What may be changed."),
    deny: texts("Globs of what is out of bounds all the same."),
    grants: texts("Directories that somebody granted."),
    granted: {
      type: "array",
      description: "What each granted directory allows.",
      items: named("GrantedDirectory", {
        type: "object",
        description: "One grant.",
        properties: {
          dir: text("The directory; everything below it is meant too."),
          access: choice("What may be done there.", ["read", "write"], "write"),
          expires: text("When it ends."),
        },
        required: ["dir", "access"],
        additionalProperties: false,
      }),
    },
    read_only: { type: "boolean", description: "Whether nothing may be changed." },
    decided_by: exactly(texts("What decides about a change, in its order."), {
      values: Object.keys(DESCRIPTION_BY_SOURCE),
    }),
    engine: {
      type: "object",
      description: "The engine in use.",
      properties: { kind: text("native or wasm."), reason: text("Why it is not native.") },
      required: ["kind"],
      additionalProperties: false,
    },
    confinement: exactly(
      text("native: paths are resolved and opened in one step. checked: they are checked before."),
      { values: ["native", "checked"] },
    ),
    sandbox: {
      type: "object",
      description: "What the operating system enforces besides.",
      properties: {
        fs: text("enforced, partial or none."),
        net: text("enforced, partial or none."),
        commands: {
          type: "object",
          description: "What holds for commands; each enforced, partial or none.",
          properties: {
            tier: text("The sandbox that commands run in."),
            files: text("The directories."),
            network: text("The closed network."),
            policy: text("What is denied, protected and secret."),
            processes: text("The end of everything that was started."),
            limits: text("The limits."),
          },
          required: ["tier", "files", "network", "policy", "processes", "limits"],
          additionalProperties: false,
        },
      },
      required: ["fs", "net"],
      additionalProperties: false,
    },
    state: {
      type: "object",
      description: "The directory of locks and history, if it is not in its usual place.",
      properties: {
        dir: text("Its path."),
        passed_over: texts("The better places, and why each cannot be used."),
        problem: text("Why no file can be changed: nothing can be written in the directory."),
      },
      required: ["dir", "passed_over"],
      additionalProperties: false,
    },
  },
  [
    ...["cwd", "read_roots", "write_roots", "deny", "grants", "granted", "read_only", "decided_by"],
    ...["engine", "confinement", "sandbox"],
  ],
);

function engineDataOf({ kind, reason }: AccessSummary["engine"]): AccessInfoData["engine"] {
  return kind === "native" || reason === undefined ? { kind } : { kind, reason };
}

function sandboxDataOf({ fs, net, commands }: AccessSummary["sandbox"]): AccessInfoData["sandbox"] {
  if (commands === undefined) return { fs, net };
  const { tier, files, network, policy = "none", processes = "none", limits = "none" } = commands;
  return { fs, net, commands: { tier, files, network, policy, processes, limits } };
}

function stateDataOf({ state }: AccessSummary): AccessInfoData["state"] | undefined {
  if (state === undefined || (state.passedOver.length === 0 && state.problem === undefined)) return undefined;
  const { path, passedOver, problem } = state;
  return withoutUndefined({
    dir: path,
    passed_over: passedOver.map(({ path: dir, reason }) => `${dir}: ${reason}`),
    problem,
  });
}

/** Shows where this workspace may read and write. */
export const accessInfo: ReadingTool<AccessInfoArgs, AccessInfoData> = {
  kind: "read",
  name: "access_info",
  title: "Access",
  traits: ["endsAtOnce", "namesNoPath"],
  otherNames: {
    names: /^(?:listalloweddirectories|pwd|whereami|roots)$/u,
    does: "tells what may be read and changed",
  },
  description:
    "Tells which directories may be read and changed, what is out of bounds in them, and the directory that relative paths start from. Use it after an OUTSIDE_ALLOWED error, or before working with absolute paths.",
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: compileArgumentCheck("access_info", inputSchema),
  paths: () => [],
  async run(_args, { reach: { summary: access, grants, decidedBy } }) {
    const shown = (path: string): string => displayPath(path, access.paths);
    const granted = (await grants()).map(({ dir, access, expires }) =>
      expires === undefined ? { dir: shown(dir), access } : { dir: shown(dir), access, expires },
    );
    return {
      data: withoutUndefined({
        cwd: shown(access.cwd),
        read_roots: access.readRoots === null ? null : access.readRoots.map(shown),
        write_roots: access.readOnly ? [] : access.writeRoots.map(shown),
        deny: access.deny,
        grants: [...new Set(granted.map(({ dir }) => dir))],
        granted,
        read_only: access.readOnly,
        decided_by: decidedBy(),
        engine: engineDataOf(access.engine),
        confinement: access.confinement,
        sandbox: sandboxDataOf(access.sandbox),
        state: stateDataOf(access),
      }),
    };
  },
  texts: {
    render: (data) =>
      [
        `Working directory: ${escapeControls(data.cwd)}`,
        `May read: ${data.read_roots === null ? "everything" : listed(data.read_roots)}`,
        `May change: ${data.read_only ? "nothing (read-only)" : listed(data.write_roots)}`,
        ...(data.deny.length > 0 ? [`Out of bounds: ${listed(data.deny)}`] : []),
        ...data.granted.map(grantLine),
        ...decidingLines(data),
        `Engine: ${data.engine.kind}${data.engine.reason === undefined ? "" : ` (${data.engine.reason})`}; confinement of paths: ${data.confinement}`,
        `Kernel confinement: files ${data.sandbox.fs}, network ${data.sandbox.net}`,
        ...commandLines(data.sandbox),
        ...stateLines(data),
      ].join("\n"),
    display: ({ cwd, read_only }) =>
      `Looked up access at ${escapeControls(cwd)}${read_only ? ": nothing may be changed" : ""}`,
  },
};

const listed = (paths: readonly string[]): string =>
  paths.length === 0 ? "nothing" : paths.map(escapeControls).join(", ");

function grantLine({ dir, access, expires }: GrantedDirectory): string {
  const until = expires === undefined ? "" : ` until ${expires}`;
  return `Granted: ${escapeControls(dir)} (${access === "write" ? "read and write" : "read"}${until})`;
}

function decidingLines({ decided_by: sources }: AccessInfoData): readonly string[] {
  if (sources.length < 2) return [];
  const order = sources.map((source) => DESCRIPTION_BY_SOURCE[source]).join("; ");
  return [`A call is checked in this order: ${order}`];
}

function commandLines({ commands }: AccessInfoData["sandbox"]): readonly string[] {
  if (commands === undefined) return [];
  const { tier, files, network, policy, processes, limits } = commands;
  return [
    `Commands (${tier}): files ${files}, network ${network}, denied, protected and secret places ${policy}, end of processes ${processes}, limits ${limits}`,
  ];
}

function stateLines({ state }: AccessInfoData): readonly string[] {
  if (state === undefined) return [];
  const { dir, passed_over: passed, problem } = state;
  const unwritable = problem === undefined ? "" : `, which cannot be written (${problem})`;
  const better = passed.length === 0 ? "" : `; not in ${listed(passed)}`;
  return [`Locks and history: ${escapeControls(dir)}${unwritable}${better}`];
}
