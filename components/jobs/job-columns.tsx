"use client";

import { type useTranslations } from "next-intl";
import { columnsFor } from "@/components/data-table/features";
import { SelectAllRows, SelectRow } from "@/components/data-table/select-cells";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { CopyButton } from "@/components/ui/copy-button";
import { Cut } from "@/components/ui/cut";
import { Picture } from "@/components/ui/picture";
import { thumbnailUrl } from "@/lib/browser/urls";
import { type ColumnChoice, isValueId, shownColumns, valueOf } from "./column-choice";
import { RanCell, StateCell, SubmittedCell, WhatCell } from "./job-cells";
import { jobLooks } from "./job-looks";
import { type JobRow } from "./job-row";
import { RowLink } from "./job-row-link";
import { ValueCell } from "./job-value-cell";

const column = columnsFor<JobRow>();

type Where = {
  /** The connection whose pictures these are. */
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  selection: SelectionStore;
  onOpen: (id: string) => boolean;
};
type Words = ReturnType<typeof useTranslations<"jobs">>;

/** The chosen columns in the chosen order; the boxes to select by stand first. */
export function jobColumns(t: Words, where: Where, choice: ColumnChoice) {
  const named = namedColumns(t, where);
  return [
    column.display({
      id: "select",
      meta: jobLooks.select,
      header: () => <SelectAllRows label={t("selectAll")} store={where.selection} />,
      cell: ({ row }) => (
        <SelectRow id={row.original.id} label={t("select", { id: row.original.id.slice(0, 8) })} store={where.selection} />
      ),
    }),
    ...shownColumns(choice).map((id) => {
      if (!isValueId(id)) return named[id];
      const value = valueOf(id, choice.labels);
      return column.display({
        id,
        header: value.label || `${value.node}.${value.input}`,
        meta: jobLooks.value,
        cell: ({ row }) => <ValueCell id={row.original.id} connection={where.connection} node={value.node} input={value.input} />,
      });
    }),
  ];
}

function namedColumns(t: Words, { connection, linked, onOpen }: Where) {
  return {
    preview: column.display({
      id: "preview",
      header: t("column.preview"),
      meta: jobLooks.preview,
      cell: ({ row }) => (
        <Picture
          src={row.original.preview && thumbnailUrl({ connection, file: row.original.preview, edge: 128 })}
          alt=""
          width={52}
          height={36}
          className="h-9 w-[52px]"
        />
      ),
    }),
    status: column.display({
      id: "status",
      header: t("column.status"),
      meta: jobLooks.status,
      cell: ({ row }) => <StateCell row={row.original} linked={linked} />,
    }),
    job: column.display({
      id: "job",
      header: t("column.job"),
      meta: jobLooks.job,
      cell: ({ row }) => (
        <span className="inline-flex items-center gap-0.5">
          <RowLink id={row.original.id} linked={linked} onOpen={onOpen} />
          <CopyButton text={row.original.id} label={t("copyId")} />
        </span>
      ),
    }),
    workflow: column.display({
      id: "workflow",
      header: t("column.workflow"),
      meta: jobLooks.workflow,
      cell: ({ row }) => <Cut text={row.original.workflow ?? ""} />,
    }),
    what: column.display({
      id: "what",
      header: t("column.what"),
      meta: jobLooks.what,
      cell: ({ row }) => <WhatCell row={row.original} linked={linked} />,
    }),
    outputs: column.display({
      id: "outputs",
      header: t("column.outputs"),
      meta: jobLooks.outputs,
      cell: ({ row }) => row.original.outputs || t("nothing"),
    }),
    submitted: column.display({
      id: "submitted",
      header: t("column.submitted"),
      meta: jobLooks.submitted,
      cell: ({ row }) => <SubmittedCell row={row.original} linked={linked} />,
    }),
    ran: column.display({ id: "ran", header: t("column.ran"), meta: jobLooks.ran, cell: ({ row }) => <RanCell row={row.original} /> }),
  };
}
