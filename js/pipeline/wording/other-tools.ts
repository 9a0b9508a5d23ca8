/** Maps the tool names of other systems to the tools of this package that do the same work. */

/**
 * Patterns for the letters of a tool name of another system, each with a sentence for the model. In the sentence,
 * a canonical name in braces stands for the name under which that tool is offered.
 */
const ADVICE_BY_OTHER_TOOL_NAME: readonly (readonly [names: RegExp, says: string])[] = [
  [
    /^(?:create|new|make|touch|save|add)(?:text)?file$|^create$|^write$|^savefile$|^overwritefile$/u,
    "{write_file} creates files",
  ],
  [
    /^(?:str|string)?replace(?:text|string|infile|basededittool|intextfile)?$|^edit(?:text|or)?$|^modifyfile$|^updatefile$|^multiedit$|^searchreplace$|^strreplace(?:editor|basededittool)?$/u,
    "{edit_file} replaces text",
  ],
  [
    /^search(?:files?|code|project)?$|^codebasesearch$|^filesearch$/u,
    "{glob} finds names, {grep} finds contents",
  ],
  [
    /^(?:rip)?grep(?:search|files)?$|^rg$|^searchcontents?$|^searchtext$|^findtext$|^searchfilecontent$/u,
    "{grep} finds contents",
  ],
  [/^find(?:files?|byname|name)?$|^globfiles?$|^globsearch$|^locate$/u, "{glob} finds names"],
  [
    /^(?:bash|shell|sh|cmd|exec|execute|terminal|runinterminal|runshellcommand|executecommand|powershell|zsh)$/u,
    "commands are not run here; {grep}, {glob} and {list_directory} look, {edit_file} changes",
  ],
  [
    /^(?:view|cat|open|show|head|tail)(?:file)?$|^read$|^getfile(?:contents?)?$|^readtextfile$/u,
    "{read_file} reads files",
  ],
  [
    /^(?:ls|dir|tree|listdir|listfiles?|directorytree|readdir|listfolder)$/u,
    "{list_directory} lists directories",
  ],
  [
    /^(?:rm|remove|unlink|del)(?:file|dir|directory)?$|^deletefile$|^trash$/u,
    "{delete} removes files and directories",
  ],
  [/^(?:mv|rename)(?:file)?$|^movefile$/u, "{move} moves and renames"],
  [/^(?:cp)$|^copyfile$/u, "{copy} copies"],
  [/^(?:mkdirp|createdirectory|createfolder|makedirectory|newfolder)$/u, "{mkdir} makes directories"],
  [/^(?:patch|applydiff|applypatchtool|gitapply)$/u, "{apply_patch} applies patches"],
  [/^(?:fileinfo|getfileinfo|metadata|exists)$/u, "{stat} tells about a path"],
  [/^(?:listalloweddirectories|pwd|whereami|roots)$/u, "{access_info} tells what may be read and changed"],
];

/**
 * Returns the advice for a tool name of another system; undefined for an unknown name, or when no offered
 * tool does its work.
 *
 * @param called returns the name under which a canonical tool is offered; undefined when it is not offered
 */
export function adviceForOtherTool(
  name: string,
  called: (ours: string) => string | undefined,
): string | undefined {
  const key = name.toLowerCase().replaceAll(/[^a-z]/gu, "");
  const says = ADVICE_BY_OTHER_TOOL_NAME.find(([names]) => names.test(key))?.[1];
  if (says === undefined) return undefined;
  let isOffered = true;
  const text = says.replaceAll(/\{(\w+)\}/gu, (_, ours: string) => {
    const tool = called(ours);
    if (tool === undefined) isOffered = false;
    return tool ?? "";
  });
  return isOffered ? text : undefined;
}
