import { type ApiFailure } from "@/lib/browser/read-failure";
import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { fromTop } from "@/lib/contract/userdata-paths";
import { type Result } from "@/lib/shared/result";
import { folderOf } from "./crumbs";
import { isAbsent } from "./use-abilities";

export type ListFolder = (folder: string) => Promise<Result<UserdataFile[], ApiFailure>>;

/** Whether the service lacks the act. A file that is gone is answered as an unknown act is: its folder tells the two apart. */
export async function isAbsentAct({ path, failure }: { path: string; failure: ApiFailure }, list: ListFolder): Promise<boolean> {
  if (!isAbsent(failure) || failure.status !== 404) return isAbsent(failure);
  const folder = folderOf(path);
  const listed = await list(folder);
  return listed.ok && fromTop(listed.value, folder).some((file) => file.path === path);
}
