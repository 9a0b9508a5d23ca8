/**
 * Every tool as a method of a workspace. The doc comments of the methods and of their arguments are
 * the descriptions for models: `scripts/describe-types.mjs` adds them to the declarations.
 */
import type { GrepArgs, GrepData, GrepOutput, ToolArgs, ToolData, ToolName } from "../tools/index.ts";
import type { CallOptions } from "../pipeline/enter.ts";

/** Every tool as a method: it returns the data, or throws the failure. */
export interface ToolMethods {
  readFile(args: ToolArgs["read_file"], options?: CallOptions): Promise<ToolData["read_file"]>;
  readManyFiles(
    args: ToolArgs["read_many_files"],
    options?: CallOptions,
  ): Promise<ToolData["read_many_files"]>;
  writeFile(args: ToolArgs["write_file"], options?: CallOptions): Promise<ToolData["write_file"]>;
  editFile(args: ToolArgs["edit_file"], options?: CallOptions): Promise<ToolData["edit_file"]>;
  applyPatch(args: ToolArgs["apply_patch"], options?: CallOptions): Promise<ToolData["apply_patch"]>;
  diff(args: ToolArgs["diff"], options?: CallOptions): Promise<ToolData["diff"]>;
  listDirectory(args: ToolArgs["list_directory"], options?: CallOptions): Promise<ToolData["list_directory"]>;
  glob(args: ToolArgs["glob"], options?: CallOptions): Promise<ToolData["glob"]>;
  findFiles(args: ToolArgs["find_files"], options?: CallOptions): Promise<ToolData["find_files"]>;
  grep<Output extends GrepOutput = "content">(
    args: GrepArgs<Output>,
    options?: CallOptions,
  ): Promise<GrepData<Output>>;
  stat(args: ToolArgs["stat"], options?: CallOptions): Promise<ToolData["stat"]>;
  copy(args: ToolArgs["copy"], options?: CallOptions): Promise<ToolData["copy"]>;
  move(args: ToolArgs["move"], options?: CallOptions): Promise<ToolData["move"]>;
  delete(args: ToolArgs["delete"], options?: CallOptions): Promise<ToolData["delete"]>;
  mkdir(args: ToolArgs["mkdir"], options?: CallOptions): Promise<ToolData["mkdir"]>;
  batch(args: ToolArgs["batch"], options?: CallOptions): Promise<ToolData["batch"]>;
  accessInfo(args: ToolArgs["access_info"], options?: CallOptions): Promise<ToolData["access_info"]>;
}

/** Converts a name: `read_file` → `readFile`. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The type of any method, for code that handles all of them. */
type MethodOf<Name extends ToolName> = (
  args: ToolArgs[Name],
  options?: CallOptions,
) => Promise<ToolData[Name]>;

/** Fails to compile when a tool has no method, or a method does not fit its tool. */
type Complete<_Methods extends { readonly [Name in ToolName as Camel<Name>]: MethodOf<Name> }> = true;
/** True when each tool has a method, and there are no others. */
type ToolMethodsAreComplete = Complete<ToolMethods> &
  ([Exclude<keyof ToolMethods, Camel<ToolName>>] extends [never] ? true : never);
true satisfies ToolMethodsAreComplete;
