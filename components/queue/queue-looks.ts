import { type ColumnLook } from "@/components/data-table/features";

/** The columns of the queue: shared by the table and its skeleton. */
export const queueLooks = {
  select: { className: "w-[44px] pr-0" },
  position: { className: "w-[56px]", align: "end" },
  status: { className: "w-[130px]" },
  job: { className: "w-[130px]" },
  workflow: { className: "hidden md:table-cell" },
  progress: { className: "hidden w-[170px] md:table-cell", hiddenHeader: true },
  submitted: { className: "hidden w-[120px] sm:table-cell", align: "end" },
  waited: { className: "w-[92px]", align: "end" },
  act: { className: "w-[84px]", align: "end", hiddenHeader: true },
} as const satisfies Record<string, ColumnLook>;
