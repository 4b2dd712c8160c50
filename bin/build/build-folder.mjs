// Where `next build` puts what it makes. Next writes the base path into all of it: each path has a folder, so that none is taken for another's.

/** @param {string} basePath as lib/server/env.ts reads it */
export function buildFolder(basePath) {
  // No path has this sign in it.
  return `.next${basePath.replaceAll("/", "~")}`;
}
