// Reads all rows of a list, page by page, before anything is done to them, since an act changes which rows match.
// Guarantees: each row once; ends at the end of the list, at the bound, when it is stopped, or if the service repeats itself.

import { failed, ok, type Result } from "@/lib/shared/result";
import { type ApiFailure } from "../read-failure";
import { callPatiently, type Work } from "./patient-call";

/** `rows`: how many places of the list the page took, including rows that could not be read. */
type Page<Item> = { items: readonly Item[]; rows: number; total?: number; hasMore?: boolean };
/** `isCut`: there are more. */
export type Walked<Item> = { items: Item[]; isCut: boolean };

type List<Answer, Item> = { pathAt: (offset: number) => `/${string}`; read: (answer: Answer) => Page<Item>; most: number };

export async function walkPages<Answer, Item extends { id: string }>(
  { pathAt, read, most }: List<Answer, Item>,
  work: Work,
): Promise<Result<Walked<Item>, ApiFailure>> {
  const found = new Map<string, Item>();
  let isOver = false;
  for (let offset = 0; !isOver && found.size < most && !work.signal.aborted;) {
    const result = await callPatiently<Answer>(pathAt(offset), { cache: "no-store" }, work);
    if (!result.ok) return failed(result.failure);
    const { items, rows, total, hasMore } = read(result.value);
    const before = found.size;
    for (const item of items) found.set(item.id, item);
    work.onDone(found.size - before);
    offset += rows;
    isOver = found.size === before || (hasMore === undefined ? offset >= (total ?? Number.POSITIVE_INFINITY) : !hasMore);
  }
  return ok({ items: [...found.values()].slice(0, most), isCut: found.size > most || (!isOver && found.size === most) });
}
