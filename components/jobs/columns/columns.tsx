"use client";

import { columnsFor } from "@/components/data-table/features";
import { SelectAllRows, SelectRow } from "@/components/data-table/select-cells";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { Cut, cutWhereLong } from "@/components/ui/cut";
import { plainPicture } from "@/components/ui/plain-picture";
import { thumbnailUrl, withQuery } from "@/lib/browser/urls";
import { type ColumnChoice, isValueId, shownColumns, valueOf } from "./column-choice";
import { type CellWords, ranCell, stateCell, submittedCell, whatCell } from "./cells";
import { jobLooks } from "./column-looks";
import { type JobRow } from "../job-row";
import { copyButton, rowHref, rowLink } from "./row-link";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "next-intl";
import useSWR from "swr";
import { readInputs } from "./job-inputs";

const column = columnsFor<JobRow>();

type Where = {
  /** The connection whose pictures these are. */
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  selection: SelectionStore;
};

/** Stands for a job's id in a sentence. */
const HERE = "\u0001";

/** The chosen columns in the chosen order; the boxes to select by stand first. */
export function jobColumns(words: CellWords, where: Where, choice: ColumnChoice) {
  const { t } = words;
  const named = namedColumns(words, where, (id) => choice.widths[id] !== undefined);
  // The sentence is put together once, not a thousand times.
  const selectLabel = t("select", { id: HERE });
  return [
    column.display({
      id: "select",
      meta: jobLooks.select,
      header: () => <SelectAllRows label={t("selectAll")} store={where.selection} />,
      cell: ({ row }) => (
        <SelectRow id={row.original.id} label={selectLabel.replace(HERE, row.original.id.slice(0, 8))} store={where.selection} />
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

function namedColumns(words: CellWords, { connection, linked }: Where, isSized: (id: string) => boolean) {
  const { t } = words;
  const copyLabel = t("copyId");
  const hrefOf = (id: string) => rowHref(id, linked);
  return {
    preview: column.display({
      id: "preview",
      header: t("column.preview"),
      meta: jobLooks.preview,
      cell: ({ row }) =>
        plainPicture({
          src: row.original.preview && thumbnailUrl({ connection, file: row.original.preview, edge: 128 }),
          width: 52,
          height: 36,
          className: "h-9 w-[52px]",
        }),
    }),
    status: column.display({
      id: "status",
      header: t("column.status"),
      meta: jobLooks.status,
      cell: ({ row }) => stateCell({ row: row.original, words, hrefOf }),
    }),
    job: column.display({
      id: "job",
      header: t("column.job"),
      meta: jobLooks.job,
      cell: ({ row }) => (
        <>
          {rowLink(row.original.id, hrefOf(row.original.id))}
          {copyButton(copyLabel)}
        </>
      ),
    }),
    workflow: column.display({
      id: "workflow",
      header: t("column.workflow"),
      meta: jobLooks.workflow,
      // A column that somebody narrowed cuts whatever it holds.
      cell: ({ row: { original } }) =>
        isSized("workflow") ? <Cut text={original.workflow ?? ""} /> : cutWhereLong(original.workflow ?? ""),
    }),
    what: column.display({
      id: "what",
      header: t("column.what"),
      meta: jobLooks.what,
      cell: ({ row }) => whatCell({ row: row.original, words, hrefOf }),
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
      cell: ({ row }) => submittedCell({ row: row.original, words, hrefOf }),
    }),
    ran: column.display({
      id: "ran",
      header: t("column.ran"),
      meta: jobLooks.ran,
      cell: ({ row }) => ranCell({ row: row.original, words, hrefOf }),
    }),
  };
}

type ValueCellProps = { id: string; connection: string | undefined; node: string; input: string };

/** One input of one node. The job's details are asked for once it has been in view, and once for all columns of values. */
function ValueCell({ id, connection, node, input }: ValueCellProps) {
  const t = useTranslations("jobs");
  const place = useRef<HTMLSpanElement>(null);
  const [wasSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element || wasSeen) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [wasSeen]);
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const { data, error } = useSWR(wasSeen ? ["inputs", path] : null, () => readInputs(path), {
    // What was submitted does not change.
    revalidateIfStale: false,
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
  });
  const value = data?.[node]?.[input];
  return (
    <span ref={place} className="relative block" title={error ? t("valueFailed") : undefined}>
      {value === undefined ? data || error ? t("nothing") : " " : <Cut text={value} />}
    </span>
  );
}
