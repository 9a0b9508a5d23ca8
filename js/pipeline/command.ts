/** The facts of a call that its questions and approvals are about: the roots of its paths, and the command that it runs. */
import type { ExactCommand } from "../hooks/scope/command.ts";
import { realPathOf } from "../policy/grant-paths.ts";
import type { Location } from "../policy/index.ts";
import type { Call } from "../tools/lib/tool.ts";

/** Returns the roots that contain the paths of a call; an approval that lasts is limited to them. */
export function rootsContaining(locations: readonly Location[]): readonly string[] {
  return [...new Set(locations.map(({ root }) => root))];
}

/** A call that may run a command. */
export interface CommandInput {
  readonly tool: {
    readonly name: string;
    exactCommand?(args: object): readonly string[];
  };
  /** The arguments; absent for a call that only reads. */
  readonly args?: object | undefined;
  readonly call: Pick<Call, "fs" | "locations">;
}

/** Returns the command that a call runs; undefined for a call that runs none. */
export async function exactCommandOf({
  tool,
  args,
  call: { fs, locations },
}: CommandInput): Promise<ExactCommand | undefined> {
  const [at] = locations;
  if (args === undefined || at === undefined || tool.exactCommand === undefined) return undefined;
  const cwd = await realPathOf(fs, at.path, false).catch(() => at.path);
  return { argv: tool.exactCommand(args), cwd };
}
