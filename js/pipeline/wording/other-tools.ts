/** Maps the tool names of other systems to the tools of this package that do the same work. */
import { TOOLS } from "../../tools/index.ts";

/** Matches the letters of the names of tools that run commands. */
const COMMAND_TOOL_NAMES =
  /^(?:bash|shell|sh|cmd|exec|execute|terminal|runinterminal|runshellcommand|executecommand|powershell|zsh)$/u;
/** The advice for them. A canonical name in braces stands for the name under which that tool is offered. */
const INSTEAD_OF_COMMANDS =
  "commands are not run here; {grep}, {glob} and {list_directory} look, {edit_file} changes";

/**
 * Returns the advice for a tool name of another system; undefined for an unknown name, or when a tool that does its work
 * is not offered.
 *
 * @param called returns the name under which a canonical tool is offered; undefined when it is not offered
 */
export function adviceForOtherTool(
  name: string,
  called: (ours: string) => string | undefined,
): string | undefined {
  const key = name.toLowerCase().replaceAll(/[^a-z]/gu, "");
  const meant = TOOLS.flatMap(({ name: ours, otherNames }) =>
    otherNames?.names.test(key) === true ? [`{${ours}} ${otherNames.does}`] : [],
  );
  const says = COMMAND_TOOL_NAMES.test(key) ? INSTEAD_OF_COMMANDS : meant.join(", ");
  let isOffered = says !== "";
  const text = says.replaceAll(/\{(\w+)\}/gu, (_, ours: string) => {
    const tool = called(ours);
    if (tool === undefined) isOffered = false;
    return tool ?? "";
  });
  return isOffered ? text : undefined;
}
