// Makes a session that shows a difference as short as possible, and prints it.

/** The replays that one failure may take. */
const MAX_REPLAYS = 80;
const SHOWN = 1500;

/**
 * Removes steps, hosts and options of a session as long as the two sides still differ.
 *
 * @param {object} session one that shows a difference at `found.step`
 * @param {(session: object) => Promise<object | undefined>} replay returns the difference of a session
 */
export async function shrunk(session, found, replay) {
  let best = { session: { ...session, steps: session.steps.slice(0, Math.max(found.step, 0) + 1) }, found };
  let left = MAX_REPLAYS;
  const tryTo = async (change) => {
    if (left-- <= 0) return false;
    const candidate = change(best.session);
    const difference = await replay(candidate);
    if (difference === undefined) return false;
    best = { session: candidate, found: difference };
    return true;
  };
  for (let size = Math.ceil(best.session.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let end = best.session.steps.length; end > 0; end -= size) {
      const first = Math.max(0, end - size);
      await tryTo((one) => ({
        ...one,
        steps: one.steps.filter((_, index) => index < first || index >= end),
      }));
    }
  }
  for (const part of ["hosts", "options"]) {
    for (const name of Object.keys(best.session[part])) {
      if (name === "root" || name === "roots" || name === "cwd") continue;
      await tryTo((one) => ({
        ...one,
        [part]: Object.fromEntries(Object.entries(one[part]).filter(([key]) => key !== name)),
      }));
    }
  }
  await tryTo((one) => ({
    ...one,
    tree: one.tree.filter(
      ({ path }) =>
        JSON.stringify(one.steps).includes(path.slice("@@/w/".length)) || path.split("/").length < 3,
    ),
  }));
  return best;
}

const shown = (value) => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length})`;
};

/** Prints a session as a script: where it is, its options, its calls, and both answers where they differ. */
export function scriptOf({ session, found }, seed) {
  const { place, options, hosts, steps } = session;
  const lines = [
    `seed ${seed}, in ${place}; alone: npm run deep -- versus --seed ${seed} --count 1 --base BASE`,
    `  options ${shown(options)}`,
    `  hosts ${shown(hosts)}`,
    ...steps.map((step, index) => `  ${index === found.step ? "→" : " "} ${index}. ${shown(step)}`),
    `  differs at ${found.step < 0 ? "the opening" : `step ${found.step}`}, ${found.where}:`,
    `    base ${shown(found.base)}`,
    `    tree ${shown(found.tree)}`,
  ];
  return lines.join("\n");
}
