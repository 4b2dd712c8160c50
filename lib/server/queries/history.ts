// The history for pages: entries newest first, page by page, without a total (the interface has none).

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type HistoryAnswer } from "@/lib/contract/schemas/queue";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { readThrough } from "../connections/access";

type HistoryPage = { max_items: number; offset: number };

export async function listHistory(viewer: Viewer, query: HistoryPage, connection?: string): Promise<Result<HistoryAnswer, Failure>> {
  return readThrough(viewer, connection, operations.listHistory, { query });
}
