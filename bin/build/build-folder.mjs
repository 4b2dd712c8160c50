// The folder for the output of `next build`. Next writes the base path into all of it, so each base path has its own folder.

/** @param {{ basePath: string }} settings as lib/server/env.ts reads them */
export function buildFolder({ basePath }) {
  return `.next${basePath.replaceAll("/", "~")}`;
}
