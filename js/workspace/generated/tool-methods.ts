// The tools as methods, written by `npm run tool-types`, not to be edited.
import type { CallOptions } from "../../pipeline/enter.ts";
import type {
  AccessInfoArgs,
  AccessInfoData,
  ApplyPatchArgs,
  ApplyPatchData,
  BatchArgs,
  BatchData,
  ChangesSinceArgs,
  ChangesSinceData,
  CopyArgs,
  CopyData,
  DeleteArgs,
  DeleteData,
  DiffArgs,
  DiffData,
  EditFileArgs,
  EditFileData,
  FindFilesArgs,
  FindFilesData,
  FindSymbolArgs,
  FindSymbolData,
  GlobArgs,
  GlobData,
  GrepArgs,
  GrepData,
  GrepOutput,
  ListDirectoryArgs,
  ListDirectoryData,
  MkdirArgs,
  MkdirData,
  MoveArgs,
  MoveData,
  OutlineArgs,
  OutlineData,
  ReadFileArgs,
  ReadFileData,
  ReadManyFilesArgs,
  ReadManyFilesData,
  SearchCodeArgs,
  SearchCodeData,
  StatArgs,
  StatData,
  WriteFileArgs,
  WriteFileData,
} from "../../tools/index.ts";

/** Every tool as a method: it returns the data, or throws the failure. */
export interface ToolMethods {
  /**
   * Reads a text file with line numbers (number, tab, line), 2000 lines from the first unless start_line and max_lines say otherwise. A cut page ends in a line that tells the total and how to go on. A page of a file of any size is quick, so read large files in pages, and find the place with grep first.
   * The encoding is recognised, byte order marks are hidden. Images are returned as images; of PDF and Office files and notebooks the text, of archives the list of entries; other binary files are refused. symbol reads one definition by its name, json_pointer one value of a large JSON, YAML, TOML or XML file. The line numbers are not part of the file: leave them out of edits. The hash can be passed as expected_hash to write_file and edit_file.
   */
  readFile(args: ReadFileArgs, options?: CallOptions): Promise<ReadFileData>;
  /**
   * Reads several files at once: exact paths, whole directories, and globs, one after the other in path order, each behind a line with its path. Use it to take in a small module or a set of configuration files; for one file, for line numbers or for long files use read_file.
   * A file that cannot be read never fails the call: it is listed as skipped with the reason. Binary files, ignored files and the usual build and dependency directories are left out. At most max_files files and max_total_bytes of content are given.
   */
  readManyFiles(args: ReadManyFilesArgs, options?: CallOptions): Promise<ReadManyFilesData>;
  /**
   * Creates a file, or replaces or extends one, atomically: readers see the old content or the new, never a part.
   * Use it for new files and for rewriting a file completely. To change parts of an existing file use edit_file, which is shorter and safer.
   * Missing directories are made. Existing files are replaced unless overwrite is false; pass expected_hash from read_file to be sure that nobody changed the file meanwhile. Encoding, byte order mark, CRLF line ends, mode and owner of an existing file are kept; the answer says so.
   */
  writeFile(args: WriteFileArgs, options?: CallOptions): Promise<WriteFileData>;
  /**
   * Replaces text in an existing file: each edit gives old_text as it stands in the file and the new_text for it. An old_text that is missing, or there more than once, is refused with the line that comes nearest or the lines where it stands, and nothing is written; several edits are made all or none. Returns the diff.
   * Read the place first and copy old_text exactly, without the line numbers. Give a few lines around the change rather than one common line. Or name whole lines by the anchors that read_file gives with anchors: true (from, to, insert), one value of a JSON, YAML, TOML, XML or CSV file by json_pointer, or a definition by its name (symbol): none needs old_text. Line ends, encoding and untouched bytes of the file are kept. dry_run shows the diff only. For a new file, or to rewrite one, use write_file.
   */
  editFile(args: EditFileArgs, options?: CallOptions): Promise<EditFileData>;
  /**
   * Applies a patch to any number of files: all of it or nothing. Files can be changed, made, deleted, renamed, copied and made executable.
   * Hunks are found by their lines; line numbers and counts in the headers may be wrong or left out (@@). A hunk that is not there, is there already, or fits in two places is refused with the line that differs or the lines where it fits, and nothing is written. For a small change of one file edit_file is simpler; use this for changes over several files, or for a diff you already have.
   */
  applyPatch(args: ApplyPatchArgs, options?: CallOptions): Promise<ApplyPatchData>;
  /** Shows what differs between two text files, or between a file and a text given as content_b, as a unified diff (--- a/…, +++ b/…, @@ hunks). Use it to check a change or to compare versions; nothing is written. Two equal files give "Files are identical". Binary files are refused. */
  diff(args: DiffArgs, options?: CallOptions): Promise<DiffData>;
  /**
   * Lists a directory: names, types, sizes and times, directories first. depth goes into subdirectories. Use it to look around; to find files by name anywhere use glob, by content grep.
   * Symbolic links are shown with their target, unless that is out of bounds, and never followed. At most limit entries are given; the total is always told, and next_cursor goes on.
   */
  listDirectory(args: ListDirectoryArgs, options?: CallOptions): Promise<ListDirectoryData>;
  /**
   * Finds files by name pattern, such as **\/*.ts or src/*.{js,jsx}, anywhere below a directory; one path a line. A pattern without a slash (*.ts) matches at any depth. Use it when you know something of the name; to search contents use grep, to look around list_directory.
   * Ignored files and .git are left out, symbolic links are not followed. At most limit paths are given; the total is always told.
   */
  glob(args: GlobArgs, options?: CallOptions): Promise<GlobData>;
  /**
   * Finds files whose paths have the letters of query in their order, the best first, one path a line. Use it when you remember a name roughly or in part; when you know a pattern use glob, to search contents grep.
   * Matches in the file's own name count more than in its directories. Ignored files and .git are left out. At most limit paths are given; the total is always told.
   */
  findFiles(args: FindFilesArgs, options?: CallOptions): Promise<FindFilesData>;
  /**
   * Searches the contents of files for a regular expression or plain text, below a directory or in one file; gives path:line:text by path and line, or a path with line:text below it where a file has six lines or more. Use it to find where something is defined or used; to find files by name use glob. Narrow it with glob or file_types; output files or count gives an overview first.
   * Ignored files, binary files and .git are left out. Nothing found is a success. At most max_results lines are given; the last line then says that there is more, and next_cursor goes on.
   */
  grep<Output extends GrepOutput = "content">(args: GrepArgs<Output>, options?: CallOptions): Promise<GrepData<Output>>;
  /**
   * Lists what a file defines, such as functions, types, headings and keys, with their lines (`12-40  class Foo`), those inside indented. For a directory, a map: each file with its top definitions. Use it before reading a large file, then read_file with symbol or the lines.
   * About 30 languages are known, without comments and strings. The answer keeps to max_tokens: deeper levels are left out first, then files that do not fit, while later ones that do are still given. anchors: true gives lines as edit_file takes them.
   */
  outline(args: OutlineArgs, options?: CallOptions): Promise<OutlineData>;
  /**
   * Finds the functions, types and passages that fit a question best, best first: path:first-last #hash, then the line of the definition and the lines with words of the query. Use it when you do not know how the code names a thing; when you know the exact text use grep.
   * It compares words and names, not types: two functions with one name are not told apart. Ignored and binary files are left out. The answer has at most max_tokens tokens and says what was left out.
   */
  searchCode(args: SearchCodeArgs, options?: CallOptions): Promise<SearchCodeData>;
  /**
   * Finds where a name is defined, then the lines that use it, each with the function or type around it. Use it before you change or rename something, or to follow a call.
   * It compares names, not types: two functions with one name are not told apart, and a use may be a comment or a text. Definitions of about 30 languages are known; ignored and binary files are left out. The answer keeps to max_tokens and says what was left out.
   */
  findSymbol(args: FindSymbolArgs, options?: CallOptions): Promise<FindSymbolData>;
  /** Tells type, size, permissions, times and media type of one file, directory or symbolic link, without reading it whole. With hash: true also the sha256 of a file, which expected_hash of write_file and edit_file takes. For many entries at once use list_directory. */
  stat(args: StatArgs, options?: CallOptions): Promise<StatData>;
  /** Shows what other agents and programs changed in the files that you have read, as diff hunks within max_tokens, and who did. The lines shown count as read. Use it before you go on with files that others work on, too, instead of reading them again. */
  changesSince(args: ChangesSinceArgs, options?: CallOptions): Promise<ChangesSinceData>;
  /**
   * Copies a file, or a directory with everything in it, to the exact path given as destination. Contents and modes are kept; symbolic links inside it are copied as links, never followed.
   * An existing destination is ALREADY_EXISTS unless overwrite is true: then a file is replaced and directories are merged.
   */
  copy(args: CopyArgs, options?: CallOptions): Promise<CopyData>;
  /**
   * Moves or renames a file or a directory to the exact path given as destination; a symbolic link itself is moved, not its target.
   * An existing destination is ALREADY_EXISTS unless overwrite is true: then a file replaces a file, and a directory an empty directory.
   */
  move(args: MoveArgs, options?: CallOptions): Promise<MoveData>;
  /** Deletes a file, a symbolic link (never its target) or a directory. A directory that is not empty needs recursive: true and goes with everything in it; there is no undo by this tool, so look with list_directory first. The roots of the workspace cannot be deleted. */
  delete(args: DeleteArgs, options?: CallOptions): Promise<DeleteData>;
  /**
   * Makes a directory, with missing parents unless parents is false. An existing directory is fine unless exist_ok is false.
   * Not needed before write_file, copy or move: they make missing directories themselves.
   */
  mkdir(args: MkdirArgs, options?: CallOptions): Promise<MkdirData>;
  /**
   * Runs several tool calls in order as one: all of them succeed, or nothing is changed and the error names the operation that failed (details.index, from 0). Later operations see the results of earlier ones, so a file can be made, edited and moved in one batch. A batch that is cut off is taken back, too.
   * Use it where changes of several files belong together. Up to 100 operations; batches cannot be nested.
   */
  batch(args: BatchArgs, options?: CallOptions): Promise<BatchData>;
  /** Tells which directories may be read and changed, what is out of bounds in them, and the directory that relative paths start from. Use it after an OUTSIDE_ALLOWED error, or before working with absolute paths. */
  accessInfo(args: AccessInfoArgs, options?: CallOptions): Promise<AccessInfoData>;
}
