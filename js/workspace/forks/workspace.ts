/** The workspace of a fork: that of its session, with the calls of a fork. */

import { NO_RECOVERY } from "../../log/index.ts";
import type { CallOptions } from "../../pipeline/enter.ts";
import type { ToolArgs } from "../../tools/index.ts";
import { COMPARE_ALIASES } from "../../tools/lib/shared.ts";
import type { ToolMethods } from "../generated/tool-methods.ts";
import type { Capabilities, ForkWorkspace, Workspace } from "../types.ts";
import type { OpenedFork } from "./forks.ts";

/** The methods that a workspace hands to the one that extends it. */
export interface WorkspaceMethods {
  /** Closes the workspace itself. */
  close(): Promise<void>;
  /** The tools as methods. */
  readonly tools: ToolMethods;
}

/** The dependencies of the workspace of a fork. */
export interface ForkMaker {
  readonly parent: Capabilities;
  /** The open forks of the parent, which closes them. */
  readonly siblings: Set<Workspace>;
  /** Makes the workspace of a session, with further methods. */
  make(
    session: OpenedFork["session"],
    capabilities: Capabilities,
    extend: (methods: WorkspaceMethods) => object,
  ): Workspace;
}

/** Creates the workspace of a fork. */
export function makeForkWorkspace(
  { name, session, diff, merge, markDropped }: OpenedFork,
  { parent, siblings, make }: ForkMaker,
): ForkWorkspace {
  const capabilities: Capabilities = {
    ...parent,
    backend: session.files.fs.abilities,
    confinement: session.files.access.confinement,
    // A fork is new, so nothing was interrupted in it.
    recovery: NO_RECOVERY,
    journal: session.forks.storage?.history === undefined ? "memory" : "storage",
    shared: Object.freeze({
      ...parent.shared,
      approvals: "memory",
      reads: parent.shared.reads === "none" ? "none" : "memory",
    }),
  };
  const fork: Workspace = make(session, capabilities, ({ close: closeOwn, tools }) => {
    const close = (): Promise<void> => {
      siblings.delete(fork);
      return closeOwn();
    };
    return {
      name,
      diff: (options?: object, callOptions?: CallOptions) =>
        options !== undefined && Object.keys(options).some(isDiffArgument)
          ? tools.diff(options as ToolArgs["diff"], callOptions)
          : diff(options),
      merge,
      async drop() {
        markDropped();
        await close();
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  });
  siblings.add(fork);
  return fork as ForkWorkspace;
}

/** Returns true for an argument of the tool `diff` that names what is compared, which `fork.diff` does not have. */
function isDiffArgument(key: string): boolean {
  return ["a", "b", "content_b"].includes(COMPARE_ALIASES[key] ?? key);
}
