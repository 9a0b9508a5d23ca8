// Cases that an edit matcher must refuse, because the place that was meant is not in the file, or is not
// the only one.
import { commonLinePairs, isBlank, isComment, MISTAKES, mistakeOfStage } from "./mistakes.mjs";

/** Cases in which the matcher must refuse the edit. */
export const CORRUPTIONS = {
  amb_exact_twice: mistakeOfStage(9, (made) => {
    made.after = [...made.after, ...made.file, ""];
    made.refuse = true;
    return true;
  }),
  amb_typo_twice: mistakeOfStage(9, (made, random) => {
    made.after = [...made.after, ...made.file, ""];
    made.refuse = true;
    return MISTAKES.typo_both.make(made, random);
  }),
  absent: mistakeOfStage(9, (made, random, hunks) => {
    const other = random.pick(hunks);
    if (other.src === made.src) return false;
    [made.old, made.new, made.refuse] = [other.old, other.made, true];
    const has = new Set([...made.before, ...made.file, ...made.after].map((line) => line.trim()));
    return made.old.filter((line) => has.has(line.trim())).length < made.old.length / 2;
  }),
  anchor_trap: mistakeOfStage(9, (made, random) => {
    const pool = made.after.filter((line) => line.trim().length > 8);
    if (made.file.length < 5 || pool.length < 20) return false;
    const start = random.below(pool.length - made.file.length + 2);
    made.current = [made.file[0], ...pool.slice(start, start + made.file.length - 2), made.file.at(-1)];
    made.refuse = true;
    return true;
  }),
  changed_number: mistakeOfStage(9, (made) => {
    const stays = new Set(commonLinePairs(made).map(([i]) => i));
    const at = made.file.findIndex((line, index) => !stays.has(index) && /\b\d+\b/.test(line));
    if (at < 0) return false;
    made.current = [...made.file];
    made.current[at] = made.current[at].replace(/\b\d+\b/, (number) => String(Number(number) * 2 + 3));
    made.refuse = true;
    return true;
  }),
  changed_word: mistakeOfStage(9, (made, random) => {
    const stays = new Set(commonLinePairs(made).map(([i]) => i));
    const words = [...new Set([...made.before, ...made.after].join(" ").match(/[A-Za-z_]{5,}/g) ?? [])];
    const at = made.file.findIndex((line, index) => !stays.has(index) && /[A-Za-z_]{5,}/.test(line));
    if (at < 0 || words.length < 5) return false;
    made.current = [...made.file];
    made.current[at] = made.current[at].replace(/[A-Za-z_]{5,}/, (word) =>
      random.pick(words.filter((other) => other !== word)),
    );
    made.refuse = true;
    return made.current[at] !== made.file[at];
  }),
  target_gone: mistakeOfStage(9, (made) => {
    const stays = new Set(commonLinePairs(made).map(([i]) => i));
    const at = made.file.findIndex((line, index) => !stays.has(index) && line.trim().length > 10);
    if (at < 0) return false;
    made.current = made.file.filter((_, index) => index !== at);
    made.refuse = true;
    return true;
  }),
  code_between: mistakeOfStage(9, (made, random) => {
    // The file has a line of code between the replaced lines that neither text contains.
    const stays = new Set(commonLinePairs(made).map(([i]) => i));
    const at = made.file.findIndex(
      (line, index) =>
        !stays.has(index) &&
        !stays.has(index + 1) &&
        index + 1 < made.file.length &&
        !isBlank(line) &&
        !isBlank(made.file[index + 1]) &&
        !isComment(line),
    );
    if (at < 0) return false;
    const line = random.pick(made.after.filter((one) => one.trim().length > 12 && !isComment(one)));
    if (line === undefined || made.new.some((one) => one.trim() === line.trim())) return false;
    made.current = [...made.file.slice(0, at + 1), line, ...made.file.slice(at + 1)];
    made.refuse = true;
    return true;
  }),
  already_applied: mistakeOfStage(9, (made) => {
    const text = (lines) => lines.join("\n");
    if (text(made.right).includes(text(made.file)) || made.right.length === 0) return false;
    made.current = [...made.right];
    made.refuse = true;
    return made.right.some((line) => line.trim().length > 8 && !made.file.includes(line));
  }),
};
