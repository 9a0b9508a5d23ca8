/** The data of a page without any look, as `useReview` of the wrappers for React and Vue returns it. */
import { expect, it, onTestFinished } from "vitest";
import { reviewClient, type ReviewView } from "../../js/review/client.ts";
import { hubTransport } from "../../js/review/hub-transport.ts";
import { firstQuestion, openPlace } from "./place.ts";

it("says that it is not connected while requests get no answer, and connects again by itself", async () => {
  const { hub, ws } = await openPlace({ "a.txt": "one\n" });
  const whole = hubTransport(hub);
  let isCut = false;
  const client = reviewClient({
    ...whole,
    request: (path, body) =>
      isCut ? Promise.reject(new TypeError("Failed to fetch")) : whole.request(path, body),
  });
  const views: ReviewView[] = [];
  const until = (isReached: (view: ReviewView) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const stop = client.subscribe(() => {
        if (!isReached(client.view)) return;
        stop();
        resolve();
      });
      if (isReached(client.view)) resolve();
    });
  client.subscribe(() => views.push(client.view));
  expect(client.view.connected).toBe(false);
  client.open();
  onTestFinished(client.close);
  await until(({ connected }) => connected);
  const call = ws.call("write_file", { path: "a.txt", content: "two\n", whole_file: true });
  await firstQuestion(hub);
  await until(({ pending }) => pending.length === 1);
  const [question] = client.view.pending;
  if (question === undefined) throw new Error("nothing waits");

  isCut = true;
  await expect(client.answer(question, "refuse")).rejects.toThrow("Failed to fetch");
  expect(client.view.connected).toBe(false);
  // What was known stays, and nothing was answered.
  expect(client.view.pending.length).toBe(1);
  expect(hub.queue.pending().length).toBe(1);

  isCut = false;
  await until(({ connected }) => connected);
  // An answer that the server refuses is an error of the answer, and not of the connection.
  await expect(
    client.answer({ ...question, digest: "another" } as typeof question, "refuse"),
  ).rejects.toThrow("the answer is for another question");
  expect(client.view.connected).toBe(true);
  await client.answer(question, "refuse");
  expect((await call).ok).toBe(false);
  expect(views.filter(({ connected, connection }) => connected !== (connection === "live"))).toEqual([]);
});
