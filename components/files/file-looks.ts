import { type ColumnLook } from "@/components/data-table/features";

/** The columns of the files: shared by the table and its skeleton. */
export const fileLooks = {
  select: { width: "w-[40px]" },
  name: { shown: "max-w-0" },
  size: { width: "w-[110px]", shown: "max-sm:pr-4", align: "end" },
  modified: { width: "w-[130px]", shown: "max-sm:hidden", align: "end" },
} as const satisfies Record<string, ColumnLook>;
