import { apiPath, withQuery } from "@/lib/browser/urls";
import { type BulkSelection } from "./bulk-selection";

export type ExportFormat = "csv" | "json";

/** An address is bounded: proxies in front of a console refuse longer ones. */
const MOST_IDS_IN_ADDRESS = 150;

/** A link that saves: the file streams to the disk and passes through no script. Undefined where too many jobs are named. */
export function exportHref(selection: BulkSelection, format: ExportFormat, connection: string | undefined): string | undefined {
  if (selection.kind === "matching") {
    const { offset: _offset, limit: _limit, ...filters } = selection.query;
    return apiPath(withQuery("/api/console/jobs/export", { ...filters, format, connection }));
  }
  if (selection.ids.length > MOST_IDS_IN_ADDRESS) return undefined;
  return apiPath(withQuery("/api/console/jobs/export", { ids: selection.ids, format, connection }));
}
