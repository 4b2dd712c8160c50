import { type ColumnLook } from "@/components/data-table/features";

/** The columns of the table and of its skeleton. */
export const assetLooks = {
  select: { width: "w-[44px] md:w-[48px]", hiddenHeader: true, isRigid: true },
  preview: { width: "w-[76px]", hiddenHeader: true, isRigid: true },
  name: {},
  tags: { width: "lg:w-[22%]", shown: "max-lg:hidden" },
  type: { width: "xl:w-[110px]", shown: "max-xl:hidden" },
  size: { width: "w-[92px]", align: "end" },
  created: { width: "sm:w-[120px]", shown: "max-sm:hidden", align: "end" },
  used: { width: "xl:w-[120px]", shown: "max-xl:hidden", align: "end" },
} as const satisfies Record<string, ColumnLook>;
