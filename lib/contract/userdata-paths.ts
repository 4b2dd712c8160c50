// Paths in a listing of user data: in the console's own listings they begin at the listed folder, on its pages at the user's top folder.

import { type UserdataFile } from "./schemas/files";

/** The folder that holds everything, as the interface's `dir` names it. */
export const TOP = "/";

/** `dir` ends with a slash. */
export function fromTop(files: readonly UserdataFile[], dir: string): UserdataFile[] {
  return dir === TOP ? [...files] : files.map((file) => ({ ...file, path: dir + file.path }));
}
