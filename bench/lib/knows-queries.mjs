// Makes questions with known answers from the documentation of code.
//
// A question is the first sentence of a function's documentation without the words of its name. The
// documentation of every function is blanked in the text that is searched (line numbers stay), so
// that nothing is found by its own description. The answer is the function's file and lines.
import { createHash } from "node:crypto";
import { extname } from "node:path";
import { LANGUAGES, packagesOf } from "./knows-corpus.mjs";

/** Words that say nothing. */
export const STOP = new Set(
  "a an and are as at be been being by can could do does for from has have how i if in into is it its may might must not of on one only or other should so such than that the their them then there these this those to use used using was we were what when where whether which while who will with without would you your e g ie eg etc via per also both each any all given return returns returned returning get gets set sets".split(
    " ",
  ),
);

/** Returns the words of an identifier in lower case. */
export const words = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/gu, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/gu, "$1 $2")
    .split(/[^A-Za-z0-9]+/u)
    .filter(Boolean)
    .map((word) => word.toLowerCase());

const ENDING = /(?<=[a-z]{3})(ings?|edly|ed|ers?|ors?|ly|es|s|e)$/u;
/** Returns a word in lower case without its ending. */
export const stem = (word) =>
  word.length < 4
    ? word
    : word
        .replace(/(ational|ation|ations)$/u, "ate")
        .replace(/(izer|izing|ized|izes)$/u, "ize")
        .replace(/ies$/u, "y")
        .replace(/sses$/u, "ss")
        .replace(ENDING, "");

/** Returns the last line of the block that opens at a line, by its braces. */
function braceEnd(lines, at) {
  let [depth, seen] = [0, false];
  for (let i = at; i < Math.min(lines.length, at + 600); i++) {
    for (const c of lines[i].replace(/\/\/.*$|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gu, "")) {
      if (c === "{") [depth, seen] = [depth + 1, true];
      else if (c === "}") depth--;
    }
    if (seen ? depth <= 0 : /;\s*$/u.test(lines[i])) return i;
  }
  return Math.min(lines.length - 1, at + 30);
}

/** Returns the line after the head of a definition in Python. */
function pythonBody(lines, at) {
  let depth = 0;
  for (let i = at; i < Math.min(lines.length, at + 60); i++) {
    for (const c of lines[i].replace(/#.*$/u, ""))
      depth += "([{".includes(c) ? 1 : ")]}".includes(c) ? -1 : 0;
    if (depth <= 0 && /:\s*(#.*)?$/u.test(lines[i])) return i + 1;
  }
  return at + 60;
}

/** Returns the lines and the text of the documentation at or after a line; undefined for none. */
function pythonText(lines, from) {
  let first = from;
  while (first < lines.length && lines[first].trim() === "") first++;
  const quote = /^\s*[rRuU]?("""|''')/u.exec(lines[first] ?? "");
  if (quote === null) return undefined;
  let last = first;
  const isClosed = lines[first].slice(quote[0].length).includes(quote[1]);
  if (!isClosed)
    do last++;
    while (last < lines.length && !lines[last].includes(quote[1]));
  const text = lines.slice(first, last + 1).join("\n");
  return { first, last, text: text.replace(/^\s*[rRuU]?("""|''')/u, "").replace(/("""|''')\s*$/u, "") };
}

function* documentedInPython(lines) {
  for (let i = 0; i < lines.length; i++) {
    const head = /^(\s*)(?:async\s+def|def|class)\s+([A-Za-z_]\w*)/u.exec(lines[i]);
    const doc = head === null ? undefined : pythonText(lines, pythonBody(lines, i));
    if (doc === undefined) continue;
    let end = doc.last + 1;
    const isInside = (line) => line.trim() === "" || line.search(/\S/u) > head[1].length;
    while (end < lines.length && isInside(lines[end])) end++;
    const asked = /def\s/u.test(lines[i]);
    yield { name: head[2], first: i, last: end - 1, doc: [doc.first, doc.last], text: doc.text, asked };
  }
}

/** The first line of a function by language. */
const HEADS = {
  go: [/^func\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)/u],
  rs: [
    /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*fn\s+([A-Za-z_]\w*)/u,
  ],
  js: [
    /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([A-Za-z_$][\w$]*)/u,
    /^\s*(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]*)?=\s*(?:async\s*)?(?:function|\(|<|[A-Za-z_$][\w$]*\s*=>|dual\(|curry|_curry)/u,
    /^\s+(?:public\s+|private\s+|protected\s+|static\s+|async\s+|get\s+|set\s+)*([A-Za-z_$][\w$]*)\s*(?:<[^>]*>)?\([^;]*$/u,
  ],
};
const LINE_COMMENTS = { rs: /^\s*\/\/\/ ?/u, go: /^\s*\/\/ ?/u };
const NO_NAMES = ["if", "for", "while", "switch", "return", "constructor"];

/** Returns the last line and the text of the documentation that begins at a line; undefined for none. */
function commentAt(language, lines, at) {
  let last = at;
  if (language === "js") {
    if (!/^\s*\/\*\*/u.test(lines[at])) return undefined;
    while (last < lines.length && !lines[last].includes("*/")) last++;
    const doc = lines.slice(at, last + 1).join("\n");
    return {
      last,
      text: doc
        .replace(/^\s*\/\*\*/u, "")
        .replace(/\*\/[\s\S]*$/u, "")
        .replace(/^\s*\* ?/gmu, ""),
    };
  }
  const mark = LINE_COMMENTS[language];
  if (!mark.test(lines[at])) return undefined;
  while (last + 1 < lines.length && mark.test(lines[last + 1])) last++;
  return {
    last,
    text: lines
      .slice(at, last + 1)
      .map((line) => line.replace(mark, ""))
      .join("\n"),
  };
}

function* documentedWithBraces(language, lines) {
  for (let i = 0; i < lines.length; i++) {
    const comment = commentAt(language, lines, i);
    if (comment === undefined) continue;
    let first = comment.last + 1;
    const limit = comment.last + 6;
    while (first < lines.length && first < limit && /^\s*(#\[.*\]|@\w.*|)\s*$/u.test(lines[first])) first++;
    const head = HEADS[language].map((one) => one.exec(lines[first] ?? "")).find((one) => one !== null);
    if (head !== undefined && !NO_NAMES.includes(head[1]))
      yield {
        name: head[1],
        first,
        last: braceEnd(lines, first),
        doc: [i, comment.last],
        text: comment.text,
        asked: true,
      };
    i = comment.last;
  }
}

/** Returns the first sentence of a documentation as plain words without those of the name; undefined for too few. */
function questionOf({ name, text }) {
  const plain = text
    .split(/\n\s*\n|\n\s*@|\n\s*(?:Parameters|Args|Returns|Examples?|Arguments|:param|:return|#)\b/u)[0]
    .replace(/`{1,2}([^`]*)`{1,2}/gu, "$1")
    .replace(/\{@link\s+([^}|]*)[^}]*\}/gu, "$1")
    .replace(/:\w+:|<[^>]+>|https?:\S+/gu, " ")
    .replace(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replace(/\s+/gu, " ")
    .trim();
  const sentence = /^(.*?[.!?])(?:\s|$)/u.exec(plain)?.[1] ?? plain;
  if (sentence.length > 300 || /[^\x20-\x7e]/u.test(sentence)) return undefined;
  const [own, joined] = [new Set(words(name).map(stem)), words(name).join("")];
  const isOwn = (word) =>
    words(word).some((part) => own.has(stem(part))) || joined.includes(word.toLowerCase());
  const left = sentence.split(/[^A-Za-z0-9_']+/u).filter((word) => word !== "" && !isOwn(word));
  const content = new Set(left.flatMap(words).filter((word) => !STOP.has(word) && word.length > 2));
  return content.size >= 4 && content.size <= 20 ? left.join(" ") : undefined;
}

const digest = (text) => createHash("sha256").update(text).digest("hex");

/** Returns at most `most` questions of a package, and blanks the documentation in its files. */
function questionsOf({ id, files }, most) {
  const questions = new Map();
  for (const { path, lines } of files) {
    const language = LANGUAGES[extname(path)];
    const all = [...(language === "py" ? documentedInPython(lines) : documentedWithBraces(language, lines))];
    for (const { doc } of all) lines.fill("", doc[0], doc[1] + 1);
    for (const one of all) {
      if (!one.asked || /^_|^test/u.test(one.name)) continue;
      const query = questionOf(one);
      if (query === undefined) continue;
      const known = questions.get(query.toLowerCase()) ?? { query, relevant: [] };
      known.relevant.push({ path, first: one.first + 1 });
      questions.set(query.toLowerCase(), known);
    }
  }
  const chosen = [...questions.values()].filter(({ relevant }) => relevant.length <= 5);
  const order = new Map(chosen.map((one) => [one, digest(id + one.query)]));
  return chosen.sort((a, b) => (order.get(a) < order.get(b) ? -1 : 1)).slice(0, most);
}

/** Returns the files of a half as one tree, without their documentation, and the questions about them. */
export function questionsAbout(corpus, half, most = 60) {
  const [files, questions] = [[], []];
  for (const one of packagesOf(corpus, half)) {
    questions.push(...questionsOf(one, most));
    files.push(...one.files);
  }
  return { files, questions };
}
