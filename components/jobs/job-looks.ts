import { type ColumnLook } from "@/components/data-table/features";

/** The columns of the list of jobs: shared by the table and its skeleton, so that nothing moves when the rows come. */
export const jobLooks = {
  preview: { className: "w-[76px] pr-0 pl-4 md:pl-5", hiddenHeader: true },
  status: { className: "w-[130px]" },
  job: { className: "w-[130px]" },
  workflow: { className: "hidden w-[150px] lg:table-cell" },
  what: { className: "hidden max-w-0 lg:table-cell", hiddenHeader: true },
  outputs: { className: "hidden w-[80px] md:table-cell", align: "end" },
  submitted: { className: "w-[120px]", align: "end" },
  ran: { className: "hidden w-[92px] sm:table-cell", align: "end" },
} as const satisfies Record<string, ColumnLook>;
