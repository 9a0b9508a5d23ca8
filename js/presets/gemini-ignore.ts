/** The ignore files of Gemini CLI: those of the workspace, and its own. */
import type { Arguments } from "../tools/lib/schema.ts";
import type { ToolSpec } from "./preset.ts";

const OWN = ".geminiignore";

function minded(given: Arguments): { readonly others: boolean; readonly own: boolean } {
  const options = (given["file_filtering_options"] ?? given) as Arguments;
  return {
    others: options["respect_git_ignore"] !== false,
    own: options["respect_gemini_ignore"] !== false,
  };
}

/** For a tool whose arguments select the ignore files; all apply by default. */
export const geminiIgnore: Required<Pick<ToolSpec, "arrange" | "ignoreFiles">> = Object.freeze({
  arrange(args: Arguments, given: Arguments): Arguments {
    if (args["respect_ignore"] === undefined) return args;
    const { others, own } = minded(given);
    return { ...args, respect_ignore: args["respect_ignore"] !== false || (own && !others) };
  },
  ignoreFiles(files: readonly string[], given: Arguments): readonly string[] {
    const { others, own } = minded(given);
    return [...(others ? files : []), ...(own && !files.includes(OWN) ? [OWN] : [])];
  },
});
