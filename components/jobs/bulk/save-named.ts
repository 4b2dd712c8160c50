import { type ApiFailure, failureOfThrown, readFailure } from "@/lib/browser/read-failure";
import { saveFile } from "@/lib/browser/save-file";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type ExportFormat } from "./export-address";

/** The file of jobs whose ids no address holds: at most a page of them, so it may pass through the browser's memory. */
export async function saveNamed(
  ids: readonly string[],
  format: ExportFormat,
  connection: string | undefined,
): Promise<ApiFailure | undefined> {
  try {
    const response = await fetch(apiPath(withQuery("/api/console/jobs/export", { connection })), {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json" },
      body: writeExactJson({ ids, format }),
    });
    if (!response.ok) return readFailure(response.status, response.headers.get("retry-after"), await response.text());
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `jobs.${format}`;
    saveFile(name, await response.blob());
    return undefined;
  } catch (cause) {
    return failureOfThrown(cause);
  }
}
