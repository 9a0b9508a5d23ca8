/** Detects new content in the form in which files are shown to models: a Markdown fence, line numbers. */

/**
 * Returns the warning about content in the form of an answer; `before` is the content that it
 * replaces.
 */
export function pastedWarning(file: string, content: string, before: Uint8Array | null): string | undefined {
  if (isFenced(content) && !MARKUP_FILE.test(file)) {
    return "the content begins and ends with a Markdown fence (```), which is in the file now; send it again without the fence unless it belongs there";
  }
  if (isNumbered(content) && !TABLE_FILE.test(file) && !(before !== null && isNumbered(decode(before)))) {
    return "each line begins with its line number, which is in the file now; send it again without the numbers unless they belong there";
  }
  return undefined;
}

const MARKUP_FILE = /\.(?:md|mdx|markdown|rst|txt|adoc|qmd|rmd)$/iu;
/** Files whose lines often begin with a number of their own. */
const TABLE_FILE = /\.(?:tsv|tab|csv)$/iu;

function isFenced(content: string): boolean {
  return /^\s*(`{3,}|~{3,})[^\n`]*\n[\s\S]*\n\1\s*$/u.test(content);
}

/** A line after its number, as pages, anchors and matches show it. */
const NUMBERED_LINE = /^\s*L?(\d{1,9})(?:\t|→|: | ?\| |#\w{6,7}\t)/u;

/** Returns true when at least two lines have consecutive numbers in front. */
function isNumbered(content: string): boolean {
  const first = Number(NUMBERED_LINE.exec(content)?.[1] ?? Number.NaN);
  if (Number.isNaN(first)) return false;
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return (
    lines.length > 1 && lines.every((line, index) => Number(NUMBERED_LINE.exec(line)?.[1]) === first + index)
  );
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
