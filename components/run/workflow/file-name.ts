// What a workflow is called by its file. Pure.
// Guarantees: letters, signs and spaces within stay as they are.

/** Without its folders and its kind. */
export function nameOfFile(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .replace(/\.(json|png|webp)$/i, "")
    .trim();
}
