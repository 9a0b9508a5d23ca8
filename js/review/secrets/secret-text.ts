/**
 * Finds text that looks like a secret in what the page shows, and hides it until a person asks for it. It is hidden on
 * the server, so that the bytes reach no page, no screen that is shared and no screen reader before.
 *
 * This is for eyes that pass by, and no access control: every login may ask. It only knows well-known forms, and a
 * value that is not recognised is shown. What is hidden is still part of the digest of a question, and is written.
 *
 * Each pattern takes linear time: its parts have bounds, or are consumed when they match.
 */

/** A text with its secrets hidden. */
export interface HiddenText {
  readonly text: string;
  /** The number of values that are hidden in it. */
  readonly hidden: number;
}

/** The marks in the place of hidden values, by their least length: characters that Unicode assigns to nothing. */
const MARK_BY_LENGTH = [
  [40, "\uFDD2"],
  [16, "\uFDD1"],
  [0, "\uFDD0"],
] as const;

/** Returns the mark in the place of a hidden value of this length. */
function markOf(length: number): string {
  return MARK_BY_LENGTH.find(([least]) => length >= least)?.[1] as string;
}

/** Values that their beginnings give away: of AWS, GitHub, GitLab, OpenAI, Anthropic, Stripe, Slack, Google and others. */
const WELL_KNOWN =
  /(?<![\w-])(?:(?:AKIA|ASIA)[A-Z\d]{16}|gh[oprsu]_[A-Za-z\d]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|sk-[\w-]{20,}|[rs]k_(?:live|test)_[A-Za-z\d]{10,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35}|npm_[A-Za-z\d]{30,}|hf_[A-Za-z\d]{30,}|pypi-[\w-]{50,}|dop_v1_[a-f\d]{40,}|SG\.[\w-]{16,64}\.[\w-]{16,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})/g;

/** The password in an address, and what follows `Bearer` or `Basic`. */
const CREDENTIALS =
  /(:\/\/[^\s:@/"'<>]{0,256}:)([^\s@/"'<>]{3,256})(?=@)|(\b(?:bearer|basic)[ \t]+)([\w.~+/=-]{16,})/gi;

const PASSWORD_NAMES = "pass(?:word|wd|phrase)|pwd|secret";
const NAMES = `${PASSWORD_NAMES}|token|(?:api|access|account|auth|client|private|secret|signing|encryption|storage)[-_. ]?key|credential`;
/** The names in the column of a value, the type that some languages write after it, and the sign before the value. */
const HEAD = `((${NAMES})s?(?:_?\\d{1,2})?\\\\?["'\`]?\\]?(?:[ \\t]{0,8}:[ \\t]{0,8}&?(?:'static )?str(?:ing)?)?[ \\t]{0,32}(?::=|[:=](?![=:>]))[ \\t]{0,32})`;
const QUOTED = String.raw`\\?"[^"\n\\]{1,4096}\\?"|'[^'\n]{1,4096}'|${"`[^`\\n]{1,4096}`"}`;
/** A name and its value: in quotes, in quotes on the next lines, or without. */
const ASSIGNED = new RegExp(
  `${HEAD}(?:(${QUOTED})|(\\\\?(?:\\r?\\n[-+ ]?[ \\t]{0,80}(?:${QUOTED})[,;]?){1,4})|([^\\s"'\`<>()[\\]{},;]+))`,
  "gi",
);
/** An option of a command with its value. */
const FLAG = new RegExp(`(--[\\w-]{0,40}?(${NAMES})s?[= ]["']?)([^\\s"'\`<>()[\\]{},;]+)`, "gi");
const EACH_QUOTED = new RegExp(QUOTED, "g");
const IS_PASSWORD = new RegExp(`^(?:${PASSWORD_NAMES})$`, "iu");

/** Values that stand for another one, and words that name a type or a state. */
const PLACEHOLDER =
  /^(?:[$%<{*•.…]|process\.|os\.|env[.(]|import\.|x{3}|your|change|example|placeholder|todo)|^(?:none|null|nil|undefined|true|false|string|str|text|number|required|optional|hidden|redacted)$/i;
/** A path of names, such as `settings.PASSWORD`. */
const NAME_PATH = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+$/;
/** The text before a name at the beginning of a line, such as `export DB_` or `- `; a hunk has a sign before it. */
const LINE_HEAD = /(?:^|\n)[-+ ]?[ \t]*(?:- )?(?:(?:export|set|env|arg)[ \t]+)?["'\w.-]*$/i;
/** The text after a value without quotes: the end of its line, or a comment. */
const LINE_END = /^[ \t]{0,8}(?:[\r\n]|$)|^[ \t]{1,8}#/;
/** The number of characters in which a line must begin whose value needs no quotes. */
const MAX_LINE_HEAD = 80;

/** Returns true when a value in quotes, or that of an option, looks like a secret. */
function isSecretValue(name: string, value: string): boolean {
  if (/\s/u.test(value) ? !/phrase$/iu.test(name) : PLACEHOLDER.test(value)) return false;
  // A value that is put together from parts may be code, which is never hidden.
  if (/[$#]\{|\$\(|\{\{|`/u.test(value)) return false;
  if (/^(?:\.{0,2}\/|[a-z]+:\/\/)/iu.test(value) || NAME_PATH.test(value)) return false;
  // `password: "Password"` names a field.
  if (/^[a-z_]+$/iu.test(value) && value.toLowerCase().includes(name.toLowerCase())) return false;
  if (IS_PASSWORD.test(name)) return value.length >= 4;
  return value.length >= 12 && /\d/u.test(value) && /[a-z]/iu.test(value);
}

/** Returns true when a value without quotes looks like a secret. `head` is what stands before it in its line. */
function isBareSecret(name: string, value: string, head: string, next: string): boolean {
  // Values without quotes are those of configuration, alone at the ends of their lines; others are code.
  if (!LINE_END.test(next) || !LINE_HEAD.test(head)) return false;
  return isSecretValue(name, value) && (/\d|[^\w.-]/u.test(value) || /[A-Z_]$/u.test(head));
}

/** Returns a text with its secrets hidden. Its lines stay the same ones; those of a diff have signs before them. */
export function hideSecrets(text: string, isDiff = false): HiddenText {
  let hidden = 0;
  const hide = (value: string): string => {
    hidden += 1;
    return markOf(value.length);
  };
  const hideQuoted = (name: string, quoted: string): string => {
    const quote = quoted[0] === "\\" ? 2 : 1;
    const [from, to] = [quote, quoted.length - (quoted.at(-2) === "\\" ? 2 : 1)];
    const value = quoted.slice(from, to);
    return isSecretValue(name, value) ? quoted.slice(0, from) + hide(value) + quoted.slice(to) : quoted;
  };
  let shown = hideKeys(text, isDiff, hide)
    .replace(WELL_KNOWN, (value) => (/\d/u.test(value) ? hide(value) : value))
    .replace(CREDENTIALS, (whole, place?: string, password = "", scheme = "", value = "") => {
      if (place !== undefined) return PLACEHOLDER.test(password) ? whole : place + hide(password);
      return /\d/u.test(value) ? scheme + hide(value) : whole;
    });
  shown = shown.replace(
    ASSIGNED,
    (whole, head: string, name: string, quoted?: string, below?: string, bare = "", at = 0) => {
      if (quoted !== undefined) return head + hideQuoted(name, quoted);
      if (below !== undefined) return head + below.replace(EACH_QUOTED, (one) => hideQuoted(name, one));
      const next = shown.slice(at + whole.length, at + whole.length + MAX_LINE_HEAD);
      const before = shown.slice(Math.max(0, at - MAX_LINE_HEAD), at);
      const isAtStart = at <= MAX_LINE_HEAD;
      const line = before.slice(before.lastIndexOf("\n") + 1);
      if (!isAtStart && line.length === before.length) return whole;
      return isBareSecret(name, bare, `${line}${head.slice(0, name.length)}`, next)
        ? head + hide(bare)
        : whole;
    },
  );
  shown = shown.replace(FLAG, (whole, head: string, name: string, value: string) =>
    isSecretValue(name, value) && !isMark(value) ? head + hide(value) : whole,
  );
  return { text: shown, hidden };
}

function isMark(value: string): boolean {
  return /^[\uFDD0-\uFDD2]/u.test(value);
}

const KEY_BEGIN = /-----BEGIN (?:[A-Z\d]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END = /-----END (?:[A-Z\d]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
/** A line of a key: its digits, in quotes and with an escaped end where it is in the text of a program. */
const KEY_DIGITS = /^([\s"'`]*)([A-Za-z\d+/=]{4,80})((?:\\[rn])*["'`]?[\s,+.\\]*)$/;
/** Digits on the line of the beginning, after an escaped end of the line. */
const KEY_REST = /^(?:\\[rn])*((?:[A-Za-z\d+/=]|\\[rn])+)/;
/** A line in the middle of a key is as long as all the others. */
const KEY_LINE_LENGTH = 64;
const HAS_KEY_LINE = /(?<![A-Za-z\d+/])[A-Za-z\d+/]{64}(?![A-Za-z\d+/=])/;

/**
 * Hides private keys in PEM form, also where a hunk has only a part of one. Nothing is hidden but digits of a key: a
 * line of code ends it.
 */
function hideKeys(text: string, isDiff: boolean, hide: (value: string) => string): string {
  if (!text.includes("PRIVATE KEY") && !HAS_KEY_LINE.test(text)) return text;
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => KEY_BEGIN.test(line));
  const end = lines.findIndex((line) => KEY_END.test(line));
  const beginsBefore = end >= 0 && (begin < 0 || end < begin);
  // The lines before a change and after it are two texts.
  const isInside = { "-": beginsBefore, "+": beginsBefore };
  let last = "";
  const hideOnce = (value: string): string => {
    last = last === "" ? hide(value) : markOf(value.length);
    return last;
  };
  const hiddenLine = (body: string, sides: readonly ("-" | "+")[]): string => {
    const begun = KEY_BEGIN.exec(body);
    if (begun !== null) {
      for (const side of sides) isInside[side] = !KEY_END.test(body);
      const from = begun.index + begun[0].length;
      const rest = body.slice(from);
      return (
        body.slice(0, from) +
        rest.replace(KEY_REST, (digits) => (digits.length < 16 ? digits : hideOnce(digits)))
      );
    }
    const [, before = "", digits, after = ""] = KEY_DIGITS.exec(body) ?? [];
    const isKey = sides.some((side) => isInside[side]) || isMiddleOfKey(digits);
    if (digits === undefined) {
      // A key may have lines about it, such as `Proc-Type: 4,ENCRYPTED`, and an empty one after them.
      if (!/^\s*(?:[A-Z][\w-]{1,40}: .*)?$/u.test(body)) for (const side of sides) isInside[side] = false;
    }
    if (digits !== undefined && isKey) return before + hideOnce(digits) + after;
    last = "";
    return body;
  };
  return lines
    .map((line) => {
      const sign = isDiff ? (line[0] ?? "") : "";
      const sides = sign === "-" || sign === "+" ? ([sign] as const) : (["-", "+"] as const);
      return sign + hiddenLine(line.slice(sign.length), sides);
    })
    .join("\n");
}

/** Returns true for digits that fill a line as in a PEM file, and that are no hash in hexadecimal. */
function isMiddleOfKey(digits = ""): boolean {
  return (
    digits.length === KEY_LINE_LENGTH && /[g-z]/u.test(digits) && /[A-Z]/u.test(digits) && /\d/u.test(digits)
  );
}
