import { type ColumnLook } from "@/components/data-table/features";
import { columnLooks } from "../columns/column-looks";

/** The columns of the queue are as wide as their content. */
export const queueLooks = {
  select: columnLooks.select,
  position: { width: "w-[52px]", align: "end" },
  status: { width: "w-[130px]" },
  job: { width: "w-[110px]" },
  workflow: { width: "w-[18%]", shown: "max-w-0 max-md:hidden" },
  what: { width: "w-[170px]", shown: "max-w-[220px] max-md:hidden", hiddenHeader: true },
  start: { width: "w-[170px]", shown: "max-lg:hidden" },
  submitted: { width: "w-[120px]", shown: "max-sm:hidden", align: "end" },
  waited: { width: "w-[92px]", align: "end" },
  act: { width: "w-[84px]", align: "end", hiddenHeader: true },
} as const satisfies Record<string, ColumnLook>;
