/** Tells a disk without the addon from other files, also where its class was never loaded: nothing is an object of it then. */
let isOne = (_backend: unknown): boolean => false;

/** Called with the test of the class when its module is loaded. */
export function setCheckedDiskTest(test: (backend: unknown) => boolean): void {
  isOne = test;
}

/** Returns true for a disk that checks paths before it uses them, instead of resolving and opening in one step. */
export function isCheckedDisk(backend: unknown): boolean {
  return isOne(backend);
}
