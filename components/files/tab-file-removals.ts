import { callApi } from "@/lib/browser/api";
import { callPatiently } from "@/lib/browser/bulk/patient-call";
import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { createFileRemovals, type FileRemovals } from "./file-removals";
import { fileApiPath, listApiPath } from "./files-address";

let removals: FileRemovals | undefined;

/** Those of this tab: made when the first page asks for them, and kept over pages. */
export function tabFileRemovals(): FileRemovals {
  removals ??= createFileRemovals({
    list: (folder, connection) => callApi<UserdataFile[]>(listApiPath(folder, connection ?? ""), { cache: "no-store" }),
    remove: (path, work) => callPatiently(fileApiPath(path, { connection: work.connection }), { method: "DELETE" }, work),
  });
  return removals;
}
