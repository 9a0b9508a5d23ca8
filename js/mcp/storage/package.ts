/**
 * The imports of `@filewright/storage`, whose types need those of this package. Its name is a variable so that no bundler
 * includes it. scripts/bundle.mjs replaces this module in the command of the checkout, so that both share their classes.
 */
const PACKAGE = "@filewright/storage";

/** Imports the storage on Postgres. */
export const importPostgres = (): Promise<unknown> => import(/* @vite-ignore */ `${PACKAGE}/postgres`);

/** Imports the storage in a bucket. */
export const importS3 = (): Promise<unknown> => import(/* @vite-ignore */ `${PACKAGE}/s3`);
