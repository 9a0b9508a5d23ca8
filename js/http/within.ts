/** Waits with a time limit. */

/** Returns true when a promise is fulfilled within so many milliseconds. It continues in any case. */
export async function fulfilledWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const fulfilled = promise.then(() => true);
  return Promise.race([fulfilled, late]).finally(() => clearTimeout(timer));
}
