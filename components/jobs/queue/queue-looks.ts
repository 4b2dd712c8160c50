import { type ColumnLook } from "@/components/data-table/features";

/** The columns of the queue: shared by the table and its skeleton. */
export const queueLooks = {
  select: { width: "w-[40px]", shown: "whole-cell" },
  position: { width: "w-[52px]", align: "end" },
  status: { width: "w-[130px]" },
  job: { width: "w-[110px]" },
  workflow: { shown: "max-w-0 max-md:hidden" },
  progress: { width: "w-[170px]", shown: "max-md:hidden", hiddenHeader: true },
  start: { width: "w-[170px]", shown: "max-lg:hidden" },
  submitted: { width: "w-[120px]", shown: "max-sm:hidden", align: "end" },
  waited: { width: "w-[92px]", align: "end" },
  act: { width: "w-[84px]", align: "end", hiddenHeader: true },
} as const satisfies Record<string, ColumnLook>;
