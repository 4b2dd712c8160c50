// Applies changes of single jobs to a response that a screen shows.

import { isTerminalStatus } from "@/lib/contract/jobs/job-list";
import { asObject, asText, isObject, type JsonObject } from "@/lib/contract/json/json";
import { getRowId, type LiveEvent, parseTopic, rowFields } from "@/lib/contract/live";

export type RowChange = Extract<LiveEvent, { event: "job.updated" | "job.progress" }>;

export function getChangedJobId({ event, data }: RowChange): string | undefined {
  return event === "job.updated" ? getRowId(data.job) : data.id;
}

/** Services may restart jobs in these states. */
const restartableStates: readonly unknown[] = ["retryable_error", "lost"];

function hasEnded(row: JsonObject): boolean {
  return !restartableStates.includes(row.status ?? row.state) && isTerminalStatus(asText(row.status) ?? asText(row.state) ?? "");
}

/** Returns the value unchanged if it doesn't contain the row. Ended jobs remain ended, because events may arrive late. */
export function applyChange(response: unknown, event: RowChange): unknown {
  if (!isObject(response)) return response;
  const { data } = event;
  const id = getChangedJobId(event);
  const applyToRow = (row: JsonObject): JsonObject => {
    if (getRowId(row) !== id || (hasEnded(row) && (event.event === "job.progress" || !hasEnded(event.data.job)))) return row;
    if (event.event === "job.updated") return event.data.job;
    return { ...row, progress: { start_time: asObject(row.progress)?.start_time, ...event.data.progress } };
  };
  const name = parseTopic(data.topic)?.name;
  if (name === "job") return applyToRow(response);
  const listNames = (name && rowFields[name]) ?? [];
  const changedLists = listNames.flatMap((listName) => {
    const rows = response[listName];
    return Array.isArray(rows) ? [[listName, rows.map((row: unknown) => (isObject(row) ? applyToRow(row) : row))] as const] : [];
  });
  return { ...response, ...Object.fromEntries(changedLists) };
}
