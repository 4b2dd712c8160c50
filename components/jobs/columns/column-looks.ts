import { type ColumnLook } from "@/components/data-table/features";

/** How the columns of a list of jobs look: shared by the table and its skeleton, so that nothing moves when the rows come. */
export const columnLooks = {
  select: { width: "w-10 md:w-[46px]", shown: "whole-cell", isRigid: true },
  preview: { width: "w-[72px]", shown: "whole-cell", hiddenHeader: true, isRigid: true },
  status: { width: "w-[120px] max-sm:takes-rest" },
  job: { width: "w-[108px]" },
  workflow: { width: "w-[176px] min-[90rem]:w-[260px]", shown: "max-lg:hidden max-xl:in-[.with-panel]:hidden" },
  /** Columns of workflow values never take the last free space: the table scrolls instead. */
  what: { shown: "max-lg:hidden xl:min-w-[144px] xl:in-[.with-panel]:min-w-0", hiddenHeader: true },
  outputs: { width: "w-[78px]", shown: "max-md:hidden in-[.with-panel]:hidden", align: "end" },
  by: { width: "w-[116px]", shown: "max-xl:hidden in-[.with-panel]:hidden" },
  submitted: { width: "w-[112px]", shown: "max-sm:hidden in-[.with-panel]:hidden", align: "end" },
  ran: { width: "w-[100px]", shown: "max-sm:hidden in-[.with-panel]:hidden", align: "end" },
} as const satisfies Record<string, ColumnLook>;

export const valueLook = { width: "w-[150px]", shown: "max-lg:hidden in-[.with-panel]:hidden" } as const satisfies ColumnLook;

export const pinnedLook = { ...valueLook, shown: columnLooks.workflow.shown } as const satisfies ColumnLook;
