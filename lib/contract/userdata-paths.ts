// The paths in a listing of user data, from the user's own top.
// Services differ (wire facts 3.21): some name files from the listed folder on, some from the top.

import { type UserdataFile } from "./schemas/userdata";

/** The folder that holds everything, as the interface's `dir` names it. */
export const TOP = "/";

/** A folder is there once it holds something: until then some services know nothing of it. Only of a listing's own refusal. */
export function isNoFolder({ code, status }: { code: string; status: number }): boolean {
  return code === "NOT_FOUND" && status === 404;
}

/** `dir` ends with a slash. Where every path begins with the folder, the folder is part of it; else it is put in front. */
export function fromTop(files: readonly UserdataFile[], dir: string): UserdataFile[] {
  const folder = dir === TOP ? "" : dir;
  const trimmed = files.map((file) => ({ ...file, path: file.path.replace(/^\/+/, "") }));
  return folder === "" || trimmed.every(({ path }) => path.startsWith(folder))
    ? trimmed
    : trimmed.map((file) => ({ ...file, path: folder + file.path }));
}
