/** The state of the review page from its events, whichever of them a page has already seen. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReviewEvent, ReviewQuestion, ReviewState, UnnumberedEvent } from "../../js/review/protocol.ts";
import { applyEvent, applyEvents, EMPTY_STATE, MissingEventsError } from "../../js/review/state.ts";

const question = (id: string): ReviewQuestion => ({
  id,
  askedAt: 1,
  title: `Edit ${id}`,
  tool: "edit_file",
  kind: "directory",
  dir: "/w",
  access: "read",
});

const ids = fc.constantFrom("a", "b", "c", "d", "e");
const anyEvent: fc.Arbitrary<UnnumberedEvent> = fc.oneof(
  ids.map((id) => ({ type: "asked" as const, question: question(id) })),
  fc.record({
    type: fc.constant("answered" as const),
    id: ids,
    outcome: fc.constantFrom("allow" as const, "allow_parts" as const, "refuse" as const),
    by: fc.constantFrom("ana", "ben"),
    at: fc.nat(),
  }),
  fc.record({ type: fc.constant("withdrawn" as const), id: ids, at: fc.nat() }),
  ids.map((id) => ({ type: "stale" as const, id })),
  ids.map((id) => ({ type: "call.begin" as const, call: { id, tool: "grep", at: 1, paths: [] } })),
  ids.map((id) => ({
    type: "call.end" as const,
    call: { id, tool: "grep", at: 1, paths: ["/w"], ok: true, ms: 1 },
  })),
);

/** Numbers events, and leaves out those that no server sends: a question that already waits is not asked again. */
function history(given: readonly UnnumberedEvent[]): readonly ReviewEvent[] {
  const waiting = new Set<string>();
  const kept = given.filter((event) => {
    if (event.type === "asked") return !waiting.has(event.question.id) && waiting.add(event.question.id);
    if (event.type === "answered" || event.type === "withdrawn") waiting.delete(event.id);
    return true;
  });
  return kept.map((event, index) => ({ seq: index + 1, ...event }) as ReviewEvent);
}

const stateAfter = (events: readonly ReviewEvent[], from: ReviewState = EMPTY_STATE): ReviewState =>
  events.reduce(applyEvent, from);

describe("the state after events", () => {
  it("is the same from any event on that a page has seen last, also when events come twice", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.nat(), fc.nat(), (given, at, repeated) => {
        const events = history(given);
        const seen = at % (events.length + 1);
        const snapshot = JSON.parse(JSON.stringify(stateAfter(events.slice(0, seen)))) as ReviewState;
        // The server sends from the last event that it knows the page has, which may be earlier than the page's last.
        const from = Math.max(0, seen - (repeated % 5));
        expect(stateAfter(events.slice(from), snapshot)).toEqual(stateAfter(events));
      }),
      { numRuns: 500 },
    );
  });

  it("is the same whether events come one by one or many together, in any groups", () => {
    // Many more calls than are kept, so that beginnings are forgotten before their ends come.
    const calls = fc.array(
      fc.tuple(fc.nat({ max: 400 }), fc.boolean()).map(([id, isEnd]): UnnumberedEvent => {
        const call = { id: `${id}`, tool: "grep", at: 1, paths: [] };
        return isEnd
          ? {
              type: "call.end",
              call: { ...call, ok: true, ms: 1, ...(id % 3 === 0 ? { changes: true } : {}) },
            }
          : { type: "call.begin", call };
      }),
      { maxLength: 500 },
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            anyEvent.map((one) => [one]),
            calls,
          ),
          { maxLength: 12 },
        ),
        fc.nat(),
        (groups, at) => {
          const events = history(groups.flat());
          const cut = at % (events.length + 1);
          const halfway = applyEvents(EMPTY_STATE, events.slice(0, cut));
          expect(applyEvents(halfway, events.slice(Math.max(0, cut - 3)))).toEqual(stateAfter(events));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("refuses to go on where an event is missing", () => {
    const events = history([
      { type: "asked", question: question("a") },
      { type: "stale", id: "a" },
      { type: "withdrawn", id: "a", at: 1 },
    ]);
    const first = stateAfter(events.slice(0, 1));
    expect(() => applyEvent(first, events[2] as ReviewEvent)).toThrow(MissingEventsError);
  });

  it("moves a question from those that wait to the settled ones, with its answer", () => {
    const asked = stateAfter(
      history([
        { type: "asked", question: question("a") },
        { type: "asked", question: question("b") },
      ]),
    );
    const state = applyEvent(asked, {
      seq: 3,
      type: "answered",
      id: "a",
      outcome: "refuse",
      by: "ana",
      at: 9,
    });
    expect(state.waiting.map(({ id }) => id)).toEqual(["b"]);
    expect(state.settled).toEqual([{ question: question("a"), outcome: "refuse", by: "ana", at: 9 }]);
  });

  it("keeps the last calls, and replaces a running one by its end", () => {
    const begin = (id: string): UnnumberedEvent => ({
      type: "call.begin",
      call: { id, tool: "grep", at: 1, paths: [] },
    });
    const many = Array.from({ length: 300 }, (_, index) => begin(`${index}`));
    const end: UnnumberedEvent = {
      type: "call.end",
      call: { id: "299", tool: "grep", at: 1, paths: [], ok: false, code: "NOT_FOUND", ms: 2 },
    };
    const { calls } = stateAfter(history([...many, end]));
    expect(calls.length).toBe(200);
    expect(calls[0]?.id).toBe("100");
    expect(calls.at(-1)).toEqual(end.call);
  });
});
