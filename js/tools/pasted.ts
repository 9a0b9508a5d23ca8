/** What a new content has of the form in which files are shown to models: a Markdown fence, line numbers. */

/** What is said of content in the form of an answer; `before`: the content that it replaces. */
export function pastedWarning(file: string, content: string, before: Uint8Array | null): string | undefined {
  if (isFenced(content) && !MARKUP.test(file)) {
    return "the content begins and ends with a Markdown fence (```), which is in the file now; send it again without the fence unless it belongs there";
  }
  if (isNumbered(content) && !TABLE.test(file) && !(before !== null && isNumbered(decode(before)))) {
    return "each line begins with its line number, which is in the file now; send it again without the numbers unless they belong there";
  }
  return undefined;
}

const MARKUP = /\.(?:md|mdx|markdown|rst|txt|adoc|qmd|rmd)$/iu;
/** Files whose lines often begin with a number of their own. */
const TABLE = /\.(?:tsv|tab|csv)$/iu;

function isFenced(content: string): boolean {
  return /^\s*(`{3,}|~{3,})[^\n`]*\n[\s\S]*\n\1\s*$/u.test(content);
}

/** A line with its number in front, as pages, anchors and matches show it. */
const NUMBERED = /^\s*L?(\d{1,9})(?:\t|→|: | ?\| |#\w{6,7}\t)/u;

/** Whether each of at least two lines has its number in front, one after the other. */
function isNumbered(content: string): boolean {
  const first = Number(NUMBERED.exec(content)?.[1] ?? Number.NaN);
  if (Number.isNaN(first)) return false;
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.length > 1 && lines.every((line, index) => Number(NUMBERED.exec(line)?.[1]) === first + index);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
