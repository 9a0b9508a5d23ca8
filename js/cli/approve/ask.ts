/** Asks the person at the terminal about one question, key by key, and sends the answer to the server. */
import type { ReadStream, WriteStream } from "node:tty";
import { FilewrightError } from "../../engine/errors.ts";
import type { ChangeDetails } from "../../hooks/changed-files.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import { hunksByPath, type SelectablePart } from "../../hooks/terminal-view.ts";
import { editContents } from "../../hooks/terminal/editor.node.ts";
import { discardEarlyKeys, readAnyKey, readLine } from "../../hooks/terminal/keys.node.ts";
import type { ChosenHunks } from "../../review/protocol.ts";
import { styledText } from "../person/style.ts";
import { hiddenWords, type ShownSecrets, withoutSecrets } from "./secrets.ts";
import type { ApprovalServer, ChangeQuestion, TerminalAnswer } from "./server.ts";
import { contentOfPart, partLines, partsOf, questionTitle, renderChange } from "./view.ts";
import { askWider } from "./wider.ts";
import { STALE_WORDS, whyNotAnswered } from "./words.ts";
import { plural } from "../../engine/escape.ts";

/** The terminal at which questions are asked. */
export interface AskingTerminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** The environment, of which the editor is used. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly colour: boolean;
  readonly server: ApprovalServer;
  /** The contents of the parts of the questions that were shown, by the ids of the questions. */
  readonly shownParts: Map<string, ReadonlySet<string>>;
}

/** A question that is asked. */
export interface AskedQuestion {
  readonly question: PendingApproval;
  readonly changes: readonly ChangeDetails[];
  /** Fires when the question was answered elsewhere or withdrawn. Its reason is an error that says so. */
  readonly ended: AbortSignal;
  /** Fires when a file has changed since the question was asked. */
  readonly stale: AbortSignal;
}

/**
 * The step after a question: to the next one, to the one before it, or to the end of the watch. `ended`: to the next one,
 * because this one does not wait any more.
 */
export type NextStep = "next" | "previous" | "quit" | "ended";

/** The time in milliseconds within which no key acts, because it may be meant for the question before. */
const GUARD_MS = 400;
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
/** The number of lines of the window that are kept free for the head of a question and for the prompt. */
const MARGIN_LINES = 12;
const MIN_SHOWN_LINES = 10;

/** Asks until the question is answered, or the person leaves it without an answer. @throws the reason of `ended` */
export async function askQuestion(asked: AskedQuestion, terminal: AskingTerminal): Promise<NextStep> {
  return new QuestionAtTerminal(asked, terminal).run();
}

/** One question at the terminal, with what is chosen of it. */
class QuestionAtTerminal {
  readonly #asked: AskedQuestion;
  readonly #terminal: AskingTerminal;
  readonly #parts: readonly SelectablePart[];
  readonly #chosen: Set<number>;
  /** The indexes of the parts that are not in the question that this one replaces; undefined where that is not known. */
  readonly #news: ReadonlySet<number> | undefined;
  /** The index of the hunk that `n`, `p` and the space key start from; -1 until one of the keys for hunks is used. */
  #current = -1;
  /** True until all lines were shown. A change cannot be allowed before. */
  #isCut = false;
  /** The printed form of a change with its secrets hidden; undefined for a directory. */
  readonly #hidden: ShownSecrets | undefined;
  /** True when what looks like a secret is printed. */
  #areSecretsShown = false;

  constructor(asked: AskedQuestion, terminal: AskingTerminal) {
    const { question, changes } = asked;
    this.#asked = asked;
    this.#terminal = terminal;
    this.#parts = question.kind === "change" ? partsOf(question, changes) : [];
    this.#hidden = question.kind === "change" ? withoutSecrets(question, this.#parts) : undefined;
    this.#chosen = new Set(this.#parts.keys());
    const before = question.kind === "change" ? terminal.shownParts.get(question.replaces ?? "") : undefined;
    const contents = this.#parts.map(contentOfPart);
    this.#news = before && new Set([...contents.keys()].filter((at) => !before.has(contents[at] ?? "")));
    remember(terminal.shownParts, question.id, new Set(contents));
  }

  async run(): Promise<NextStep> {
    const { input } = this.#terminal;
    this.#show(this.#windowLines);
    let isToldStale = false;
    await discardEarlyKeys(input, GUARD_MS);
    for (;;) {
      if (this.#isStale && !isToldStale) {
        isToldStale = true;
        this.#say(STALE_WORDS);
      }
      this.#write(this.#prompt());
      const key = await this.#readKey();
      if (key === "stale") {
        this.#write("\n");
        continue;
      }
      this.#write(key === undefined || key < " " ? "\n" : `${key === " " ? "space" : key}\n`);
      const step = await this.#act(key);
      if (step !== undefined) return step;
    }
  }

  /** The number of lines of a change that fit the window with the head and the prompt. */
  get #windowLines(): number {
    return Math.max(MIN_SHOWN_LINES, (this.#terminal.output.rows ?? 40) - MARGIN_LINES);
  }

  /** The printed form of a change; undefined for a directory. */
  get #shown(): ShownSecrets | undefined {
    const { question } = this.#asked;
    if (!this.#areSecretsShown || question.kind === "directory") return this.#hidden;
    return { question, parts: this.#parts, hidden: 0 };
  }

  /** The number of values that look like secrets. */
  get #secretCount(): number {
    return this.#hidden?.hidden ?? 0;
  }

  get #isStale(): boolean {
    return this.#asked.stale.aborted;
  }

  #write(text: string): void {
    this.#terminal.output.write(text);
  }

  #say(line: string): undefined {
    this.#write(`${line}\n`);
  }

  #show(maxLines: number): undefined {
    const { question } = this.#asked;
    const shown = this.#shown;
    if (shown === undefined || question.kind === "directory")
      return this.#say(`\n${questionTitle(question)}`);
    const { colour } = this.#terminal;
    const { parts } = shown;
    const view = { colour, maxLines, parts, chosen: this.#chosen, news: this.#news ?? NO_PARTS };
    const { text, cut } = renderChange(shown.question, view);
    this.#write(text);
    this.#isCut = cut;
    if (this.#secretCount > 0)
      this.#say(
        this.#areSecretsShown
          ? "Secret-looking text is shown: h hides it."
          : `${hiddenWords(this.#secretCount)}: h shows ${this.#secretCount === 1 ? "it" : "them"}.`,
      );
    if (question.replaces !== undefined)
      this.#say(
        this.#news === undefined
          ? "This replaces the question before, on the present content."
          : `This replaces the question before, on the present content: ${this.#news.size} of ${plural(this.#parts.length, "hunk")} ${this.#parts.length === 1 ? "is" : "are"} new.`,
      );
  }

  #prompt(): string {
    const { length } = this.#parts;
    const choice = length === 0 ? "" : ` ${this.#chosen.size} of ${plural(length, "hunk")} chosen`;
    return `Allow this?${choice} [${this.#keys().join("/")}] `;
  }

  /** Returns the keys that do something now. */
  #keys(): readonly string[] {
    const { question } = this.#asked;
    const offers = (outcome: string): boolean =>
      question.kind === "directory" || question.details.scopes.some((scope) => scope.outcome === outcome);
    return [
      ...(this.#whyNotAllowed() === undefined ? ["a"] : []),
      "r",
      ...(this.#isStale ? ["l"] : []),
      ...(this.#isCut ? ["v"] : []),
      ...(this.#secretCount > 0 ? ["h"] : []),
      ...(offers("proceed_always") && !this.#isStale ? ["w"] : []),
      ...(question.kind === "change" && offers("modify_with_editor") && !this.#isStale ? ["e"] : []),
      ...(this.#parts.length === 0 ? [] : ["n", "p", "space"]),
      "?",
      "q",
    ];
  }

  /** Returns why nothing can be allowed now; undefined if it can. */
  #whyNotAllowed(): string | undefined {
    const why = this.#whyOnlyRefused();
    if (why !== undefined) return why;
    if (this.#isCut) return "It was not shown whole: v shows the rest, which must be seen to allow it.";
    if (this.#parts.length > 0 && this.#chosen.size === 0) return "Nothing is chosen: r refuses all of it.";
    return undefined;
  }

  /** Returns why no other answer than a refusal can be given, whatever is chosen; undefined if one can. */
  #whyOnlyRefused(): string | undefined {
    const { question } = this.#asked;
    if (this.#isStale) return STALE_WORDS;
    return question.kind === "change" && !question.details.complete
      ? "This does not show all of the change, so it can only be refused."
      : undefined;
  }

  /** Returns the next key that may act; `stale` when a file has changed meanwhile. */
  async #readKey(): Promise<string | undefined> {
    const { ended, stale } = this.#asked;
    if (stale.aborted) return readAnyKey(this.#terminal.input, ended);
    const either = new AbortController();
    const end = (): void => either.abort(ended.aborted ? ended.reason : stale.reason);
    for (const signal of [ended, stale]) signal.addEventListener("abort", end);
    if (ended.aborted) end();
    try {
      return await readAnyKey(this.#terminal.input, either.signal);
    } catch (error) {
      if (ended.aborted || !stale.aborted) throw error;
      return "stale";
    } finally {
      for (const signal of [ended, stale]) signal.removeEventListener("abort", end);
    }
  }

  /** Does what a key says. Undefined to go on with this question. */
  async #act(key: string | undefined): Promise<NextStep | undefined> {
    switch (key) {
      case undefined:
      case CTRL_C:
      case CTRL_D:
      case "q":
        return "quit";
      case "j":
        return "next";
      case "k":
        return "previous";
      case "a":
        return this.#allow();
      case "r":
        return this.#refuse();
      case "w":
        return this.#widen();
      case "e":
        return this.#edit();
      case "l":
        return this.#lookAgain();
      case "v":
        return this.#show(Number.POSITIVE_INFINITY);
      case "h":
        return this.#toggleSecrets();
      case "n":
        return this.#move(1);
      case "p":
        return this.#move(-1);
      case " ":
        return this.#toggle(Math.max(this.#current, 0));
      case "?":
        return this.#say(KEYS_HELP);
      default:
        return /^[1-9]$/u.test(key) ? this.#toggle(Number(key) - 1) : undefined;
    }
  }

  /** Shows what looks like a secret, or hides it again. */
  #toggleSecrets(): undefined {
    if (this.#secretCount === 0) return this.#say("Nothing in it looks like a secret.");
    this.#areSecretsShown = !this.#areSecretsShown;
    return this.#show(this.#isCut ? this.#windowLines : Number.POSITIVE_INFINITY);
  }

  #move(by: number): undefined {
    const { length } = this.#parts;
    if (length === 0) return this.#say("It has one hunk.");
    this.#current = Math.min(Math.max(this.#current + by, 0), length - 1);
    return this.#showPart();
  }

  #toggle(index: number): undefined {
    if (index >= this.#parts.length)
      return this.#say(
        this.#parts.length === 0 ? "It can only be allowed as one." : `There is no hunk ${index + 1}.`,
      );
    this.#current = index;
    if (!this.#chosen.delete(index)) this.#chosen.add(index);
    return this.#showPart();
  }

  #showPart(): undefined {
    const index = this.#current;
    const part = this.#shown?.parts[index];
    if (part === undefined) return;
    const [isChosen, isNew] = [this.#chosen.has(index), this.#news?.has(index) === true];
    const { colour } = this.#terminal;
    this.#say(partLines(part, { index, isChosen, isNew, colour }).join("\n"));
  }

  async #allow(): Promise<NextStep | undefined> {
    const why = this.#whyNotAllowed();
    const { question } = this.#asked;
    if (why !== undefined) return this.#say(why);
    const taken = this.#parts.filter((_, index) => this.#chosen.has(index));
    if (question.kind === "directory" || taken.length === this.#parts.length)
      return this.#send({ outcome: "allow" }, "Allowed");
    const verb = `Allowed ${taken.length} of ${plural(this.#parts.length, "hunk")} of`;
    return this.#send({ outcome: "allow_parts", parts: this.#hunksOf(taken) }, verb);
  }

  /** Returns the chosen parts with the hunks of each change together. */
  #hunksOf(taken: readonly SelectablePart[]): readonly ChosenHunks[] {
    return [...hunksByPath(taken)].map(([path, hunks]) => ({ change: this.#changeAt(path), hunks }));
  }

  /** Returns the number of the change of a path. */
  #changeAt(path: string): number {
    return this.#asked.changes.findIndex((change) => change.path === path);
  }

  async #refuse(): Promise<NextStep | undefined> {
    const { question } = this.#asked;
    if (question.kind === "directory") return this.#send({ outcome: "refuse" }, "Refused");
    const { input, output } = this.#terminal;
    this.#write("Why not? (for the model; may be empty, Esc goes back) ");
    const line = await readLine(input, output, this.#asked.ended);
    if (line === undefined) return undefined;
    const reason = line.trim() === "" ? {} : { reason: line.trim() };
    return this.#send({ outcome: "refuse", ...reason }, "Refused");
  }

  async #widen(): Promise<NextStep | undefined> {
    const why = this.#whyNotAllowed();
    if (why !== undefined) return this.#say(why);
    if (this.#chosen.size < this.#parts.length) return this.#say("A wider answer allows the whole change.");
    const { question, ended } = this.#asked;
    const widening = await askWider(question, { ...this.#terminal, signal: ended });
    if (widening === undefined) return undefined;
    return this.#send({ outcome: "allow", ...widening }, "Allowed, with later calls,");
  }

  async #lookAgain(): Promise<NextStep | undefined> {
    const { question } = this.#asked;
    if (question.kind === "directory" || !this.#isStale)
      return this.#say("Nothing has changed since this was asked.");
    return this.#send({ outcome: "look_again" }, "Looked at again:");
  }

  /** Opens the contents in the person's editor. The result is asked about, so that it is seen before it is written. */
  async #edit(): Promise<NextStep | undefined> {
    const why = this.#whyOnlyRefused();
    const { question, changes, ended } = this.#asked;
    if (why !== undefined) return this.#say(why);
    if (question.kind === "directory" || !offersEditing(question))
      return this.#say("Its content cannot be changed here.");
    if (this.#secretCount > 0 && !this.#areSecretsShown)
      return this.#say("Show the secret-looking text first (h): the editor shows all.");
    const { input, output, env } = this.#terminal;
    input.setRawMode(false);
    const contents = await editContents(changes, { input, output, env }).finally(() =>
      input.setRawMode(true),
    );
    ended.throwIfAborted();
    if (contents.length === 0) return this.#say("The content was not changed.");
    const edits = contents.map(({ path, content }) => ({ change: this.#changeAt(path), text: content }));
    return this.#send({ outcome: "allow", edits, asksAgain: true }, "Changed, and asked again:");
  }

  /** Sends an answer. Undefined to go on with this question. */
  async #send(answer: TerminalAnswer, verb: string): Promise<NextStep | undefined> {
    const { question, changes, ended } = this.#asked;
    const { server, colour } = this.#terminal;
    try {
      const result = await server.answer(question, changes, answer);
      if (result.result === "answered") {
        this.#say(
          `${styledText(colour, "strong", verb)} ${question.id.slice(0, 8)}  ${questionTitle(question)}`,
        );
        return "ended";
      }
      this.#say(whyNotAnswered(result));
      return result.result === "stale" || result.result === "invalid" ? undefined : "ended";
    } catch (error) {
      ended.throwIfAborted();
      if (!(error instanceof FilewrightError)) throw error;
      this.#say(
        error.code === "IO_ERROR"
          ? `${error.message} It is not known whether the answer was taken.`
          : error.message,
      );
      return undefined;
    }
  }
}

const NO_PARTS: ReadonlySet<number> = new Set();

/** The number of questions whose contents are remembered. */
const MAX_SHOWN_QUESTIONS = 20;

/** Remembers the contents of a question. Forgets those of the oldest one when there are too many. */
function remember(shown: AskingTerminal["shownParts"], id: string, contents: ReadonlySet<string>): void {
  if (contents.size === 0) return;
  shown.set(id, contents);
  if (shown.size > MAX_SHOWN_QUESTIONS) shown.delete(shown.keys().next().value as string);
}

function offersEditing({ details }: ChangeQuestion): boolean {
  return details.scopes.some(({ outcome }) => outcome === "modify_with_editor");
}

const KEYS_HELP = `  a      allow once what is chosen
  r      refuse, with a reason for the model
  w      allow, and allow later calls too
  e      change the content in $EDITOR; the result is asked about again
  n p    the next and the previous hunk
  space  choose the hunk or leave it out; 1 to 9 for the hunk with that number
  v      show all of it
  h      show the text that looks like a secret, and hide it again
  l      look again at what has changed meanwhile
  j k    the next and the previous question
  q      end`;
