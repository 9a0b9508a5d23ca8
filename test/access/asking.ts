/** What tests of grants share: a person who answers, the question, and a grant. */
import { expect } from "vitest";
import type { AskGrant, Grant, GrantQuestion } from "../../js/index.node.ts";

/** An `ask` that gives these answers in turn, then `no`; and its questions. */
export function asked(...answers: (string | Error | Awaited<ReturnType<AskGrant>>)[]) {
  const questions: string[] = [];
  const about: GrantQuestion[] = [];
  const ask: AskGrant = async (question, options, details) => {
    expect(options).toEqual(["yes", "no"]);
    questions.push(question);
    about.push(details);
    const answer = answers.shift() ?? "no";
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { ask, questions, about };
}

/** The question about a directory. */
export const q = (dir: string): string => `Allow filesystem access to ${dir}?`;

/** A grant to write in a directory. */
export const grant = (dir: string, more: Partial<Grant> = {}): Grant => ({
  dir,
  access: "write",
  granted_at: "2026-01-01T00:00:00.000Z",
  ...more,
});
