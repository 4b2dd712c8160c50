import { withQuery } from "@/lib/browser/urls";

export type HistoryQuery = { offset: number; max_items: number };

export const USUAL_ITEMS = 100;

export function historyHref({ offset, max_items }: HistoryQuery, connection: string | undefined): string {
  return withQuery("/history", {
    offset: offset === 0 ? undefined : offset,
    max_items: max_items === USUAL_ITEMS ? undefined : max_items,
    connection,
  });
}

export function historyApiPath(query: HistoryQuery, connection: string): `/${string}` {
  return withQuery("/api/history_v2", { ...query, connection });
}

/** Its total is that of the history, which has none of its own. */
export function endedJobsPath(connection: string): `/${string}` {
  return withQuery("/api/jobs", { status: "completed,failed,cancelled", limit: 1, connection });
}
