// The paths in a listing of user data: the console's own name them from the listed folder on, and its pages from the user's own top.

import { type UserdataFile } from "./schemas/userdata";

/** The folder that holds everything, as the interface's `dir` names it. */
export const TOP = "/";

/** `dir` ends with a slash. */
export function fromTop(files: readonly UserdataFile[], dir: string): UserdataFile[] {
  return dir === TOP ? [...files] : files.map((file) => ({ ...file, path: dir + file.path }));
}
