/**
 * Returns the exports of the addon for a platform, or the error of loading it; nothing for a platform without a
 * package.
 */
export declare function requireAddonPackage(
  platform: string,
): { readonly exports: unknown } | { readonly error: unknown } | undefined;
