/**
 * Finds text that looks like a secret in what the page shows, and hides it until a person asks for it. The server hides
 * it, so that the secret is not sent to a page, and no shared screen or screen reader can reveal it, before that.
 *
 * This only prevents that a secret is seen by accident. It is no access control, because every login may ask for the
 * secrets. Only well-known forms are recognised, and any other secret is shown. Hiding changes only what is shown: the
 * digest of a question and the content that is written still include the secret.
 *
 * The patterns run over text that an agent wrote, so each must take linear time. Therefore the repetitions in them are
 * bounded, or never read the same text twice.
 */

/** A text with its secrets hidden. */
export interface HiddenText {
  readonly text: string;
  /** The number of values that are hidden in it. */
  readonly hidden: number;
}

/**
 * The characters that replace hidden values, by the minimum length of the value. They are noncharacters of Unicode, which
 * ordinary text does not contain.
 */
const MARK_BY_LENGTH = [
  [40, "\uFDD2"],
  [16, "\uFDD1"],
  [0, "\uFDD0"],
] as const;

/** Returns the character that replaces a hidden value of this length. */
function markOf(length: number): string {
  return MARK_BY_LENGTH.find(([minLength]) => length >= minLength)?.[1] as string;
}

/** Secrets that are recognised by their prefixes: of AWS, GitHub, GitLab, OpenAI, Anthropic, Stripe, Slack, Google and others. */
const WELL_KNOWN =
  /(?<![\w-])(?:(?:AKIA|ASIA)[A-Z\d]{16}|gh[oprsu]_[A-Za-z\d]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|sk-[\w-]{20,}|[rs]k_(?:live|test)_[A-Za-z\d]{10,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35}|npm_[A-Za-z\d]{30,}|hf_[A-Za-z\d]{30,}|pypi-[\w-]{50,}|dop_v1_[a-f\d]{40,}|SG\.[\w-]{16,64}\.[\w-]{16,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})/g;

/** The password in an address, and what follows `Bearer` or `Basic`. */
const CREDENTIALS =
  /(:\/\/[^\s:@/"'<>]{0,256}:)([^\s@/"'<>]{3,256})(?=@)|(\b(?:bearer|basic)[ \t]+)([\w.~+/=-]{16,})/gi;

const PASSWORD_NAMES = "pass(?:word|wd|phrase)|pwd|secret";
const NAMES = `${PASSWORD_NAMES}|token|(?:api|access|account|auth|client|private|secret|signing|encryption|storage)[-_. ]?key|credential`;
/** A name of {@link NAMES} in an assignment, a string type that may follow it, and `=`, `:` or `:=` before the value. */
const HEAD = `((${NAMES})s?(?:_?\\d{1,2})?\\\\?["'\`]?\\]?(?:[ \\t]{0,8}:[ \\t]{0,8}&?(?:'static )?str(?:ing)?)?[ \\t]{0,32}(?::=|[:=](?![=:>]))[ \\t]{0,32})`;
const QUOTED = String.raw`\\?"[^"\n\\]{1,4096}\\?"|'[^'\n]{1,4096}'|${"`[^`\\n]{1,4096}`"}`;
/** A name with its value. The value is in quotes on the same line, in quotes on the next lines, or has no quotes. */
const ASSIGNED = new RegExp(
  `${HEAD}(?:(${QUOTED})|(\\\\?(?:\\r?\\n[-+ ]?[ \\t]{0,80}(?:${QUOTED})[,;]?){1,4})|([^\\s"'\`<>()[\\]{},;]+))`,
  "gi",
);
/** An option of a command with its value. */
const FLAG = new RegExp(`(--[\\w-]{0,40}?(${NAMES})s?[= ]["']?)([^\\s"'\`<>()[\\]{},;]+)`, "gi");
const EACH_QUOTED = new RegExp(QUOTED, "g");
const IS_PASSWORD = new RegExp(`^(?:${PASSWORD_NAMES})$`, "iu");

/** Values that are no secrets: placeholders, references to variables, and words that name a type or a state. */
const PLACEHOLDER =
  /^(?:[$%<{*•.…]|process\.|os\.|env[.(]|import\.|x{3}|your|change|example|placeholder|todo)|^(?:none|null|nil|undefined|true|false|string|str|text|number|required|optional|hidden|redacted)$/i;
/** A path of names, such as `settings.PASSWORD`. */
const NAME_PATH = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+$/;
/** The text from the beginning of a line to a name, such as `export DB_` or `- `. In a diff, a sign is before it. */
const LINE_HEAD = /(?:^|\n)[-+ ]?[ \t]*(?:- )?(?:(?:export|set|env|arg)[ \t]+)?["'\w.-]*$/i;
/** The text after a value without quotes: the end of its line, or a comment. */
const LINE_END = /^[ \t]{0,8}(?:[\r\n]|$)|^[ \t]{1,8}#/;
/** The maximum number of characters of a line before the name of a value without quotes. */
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
  // In configuration, a value without quotes is the last text of its line. Elsewhere it is an expression of code.
  if (!LINE_END.test(next) || !LINE_HEAD.test(head)) return false;
  return isSecretValue(name, value) && (/\d|[^\w.-]/u.test(value) || /[A-Z_]$/u.test(head));
}

/**
 * Returns a text with its secrets hidden. The number and the order of its lines stay the same. `isDiff` says that each
 * line begins with the sign of a diff.
 */
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
/** The digits of a key that are on the same line as its `BEGIN`, as in a string with `\n` in place of line ends. */
const KEY_REST = /^(?:\\[rn])*((?:[A-Za-z\d+/=]|\\[rn])+)/;
/** The length of every line of a key in PEM form, except the last one. */
const KEY_LINE_LENGTH = 64;
const HAS_KEY_LINE = /(?<![A-Za-z\d+/])[A-Za-z\d+/]{64}(?![A-Za-z\d+/=])/;

/**
 * Hides the base64 digits of private keys in PEM form, also where a hunk contains only a part of a key. A line that
 * cannot belong to a key ends it, so that a `BEGIN` without an `END` does not hide the code after it.
 */
function hideKeys(text: string, isDiff: boolean, hide: (value: string) => string): string {
  if (!text.includes("PRIVATE KEY") && !HAS_KEY_LINE.test(text)) return text;
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => KEY_BEGIN.test(line));
  const end = lines.findIndex((line) => KEY_END.test(line));
  const beginsBefore = end >= 0 && (begin < 0 || end < begin);
  // Removed and added lines belong to two versions of the text. A key may begin or end in only one of them, so each
  // version has its own state; a line without a sign belongs to both.
  const isInside = { "-": beginsBefore, "+": beginsBefore };
  /** The mark of the previous line of the same key; empty outside a key. All lines of a key count as one hidden value. */
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
      // A key may begin with headers, such as `Proc-Type: 4,ENCRYPTED`, and an empty line. Any other text ends it.
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

/**
 * Returns true for digits that are a whole line of a PEM file. A line of 64 digits may also be a SHA-256 in hexadecimal,
 * which has no letters after `f`.
 */
function isMiddleOfKey(digits = ""): boolean {
  return (
    digits.length === KEY_LINE_LENGTH && /[g-z]/u.test(digits) && /[A-Z]/u.test(digits) && /\d/u.test(digits)
  );
}
