import { type ApiFailure, failureOfThrown, readFailure } from "@/lib/browser/read-failure";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type ExportFormat } from "./export-address";

const KEPT_MS = 60_000;

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
    const url = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `jobs.${format}`;
    link.click();
    // The browser reads it when it saves, which may be after a question to the person.
    setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
    return undefined;
  } catch (cause) {
    return failureOfThrown(cause);
  }
}
