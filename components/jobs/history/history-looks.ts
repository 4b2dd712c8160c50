import { type ColumnLook } from "@/components/data-table/features";

/** The columns of the history: shared by the table and its skeleton. */
export const historyLooks = {
  select: { width: "w-[40px]", shown: "whole-cell" },
  preview: { width: "w-[72px]", shown: "whole-cell", hiddenHeader: true },
  status: { width: "w-[130px] max-sm:w-auto" },
  job: { width: "w-[130px]" },
  workflow: { width: "w-[150px]", shown: "max-lg:hidden" },
  what: { shown: "max-w-0 max-lg:hidden", hiddenHeader: true },
  outputs: { width: "w-[80px]", shown: "max-md:hidden", align: "end" },
  submitted: { width: "w-[120px]", shown: "max-sm:hidden", align: "end" },
  ran: { width: "w-[92px]", shown: "max-sm:hidden", align: "end" },
} as const satisfies Record<string, ColumnLook>;
