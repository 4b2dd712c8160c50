import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode, useCallback } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { SelectAllRows, type SelectionStore, SelectRow } from "@/components/data-table/selection/selection";
import { type ColumnLook, columnsFor } from "@/components/data-table/table-columns";
import { Cut, cutWhereLong } from "@/components/ui/cut";
import { plainPicture } from "@/components/ui/pictures/plain-picture";
import { thumbnailUrl } from "@/lib/browser/urls";
import { type InputId } from "@/lib/contract/jobs/job-list";
import { type JobRow } from "../job-row";
import { columnLooks, pinnedLook, valueLook } from "../list/list-skeleton";
import { type CellWords, copyButton, ranCell, rowHref, rowLink, stateCell, submittedCell, titleOf, useRowClick, whatCell } from "./cells";
import { type ColumnChoice, type NamedId, valueOf } from "./column-choice";

// Loaded only where a column of workflow values is shown.
const ValueCell = dynamic(() => import("./value-cell").then((module) => module.ValueCell), { ssr: false, loading: () => " " });

export const column = columnsFor<JobRow>();

type SelectColumn = {
  store: SelectionStore;
  t: CellWords["t"];
  /** The label of the checkbox in the header. */
  all: string;
  /** The rows that have a checkbox; all rows if absent. */
  has?: (row: JobRow) => boolean;
  isEmpty?: boolean;
};

/** Takes the place of the job's id in the sentence. */
const HERE = "\u0001";

/** The checkboxes of the rows. */
export function selectColumn({ store, t, all, has, isEmpty }: SelectColumn) {
  // The sentence is built once, not once per row.
  const label = t("select", { id: HERE });
  return column.display({
    id: "select",
    meta: columnLooks.select,
    header: () => <SelectAllRows label={all} store={store} isEmpty={isEmpty} />,
    cell: ({ row: { original } }) =>
      has?.(original) === false ? null : <SelectRow id={original.id} label={label.replace(HERE, original.id.slice(0, 8))} store={store} />,
  });
}

type Where = {
  /** The connection that the pictures belong to. */
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  /** Ends a row's second line; if absent, the time of submission does. */
  lineEnd?: (row: JobRow) => ReactNode;
  /** If the person set a width for a text column, its content is cut to it. */
  isWorkflowCut?: boolean;
  isByCut?: boolean;
  /** Only the looks that differ from the default. */
  looks?: Partial<Record<NamedId, ColumnLook>>;
};

/** All columns that lists of jobs can have; each list picks its own. */
export function jobColumns(words: CellWords, { connection, linked, lineEnd, isWorkflowCut, isByCut, looks = columnLooks }: Where) {
  const { t } = words;
  const copyLabel = t("copyId");
  const hrefOf = (id: string) => rowHref(id, linked);
  const named = (id: NamedId, cell: (row: JobRow) => ReactNode) =>
    column.display({ id, header: t(`column.${id}`), meta: looks[id], cell: ({ row }) => cell(row.original) });
  return {
    preview: named("preview", ({ preview, previewKind }) =>
      plainPicture({
        src: preview && thumbnailUrl({ connection, file: preview, edge: 128 }),
        width: 52,
        height: 36,
        kind: previewKind,
        className: "h-9 w-[52px]",
      }),
    ),
    status: named("status", (row) => stateCell({ row, words, hrefOf, lineEnd })),
    job: named("job", ({ id }) => (
      <>
        {rowLink(id, hrefOf(id), words.cannotOpen)}
        {copyButton(copyLabel)}
      </>
    )),
    workflow: named("workflow", (row) => (isWorkflowCut ? <Cut text={titleOf(row)} /> : cutWhereLong(titleOf(row)))),
    what: named("what", (row) => whatCell({ row, words, hrefOf })),
    outputs: named("outputs", ({ outputs }) => outputs || t("nothing")),
    by: named("by", ({ by, token }) => {
      if (by === undefined) return t("nothing");
      const text = token === undefined ? by : t("byToken", { token, name: by });
      return isByCut ? <Cut text={text} /> : cutWhereLong(text);
    }),
    submitted: named("submitted", (row) => submittedCell(row, words)),
    ran: named("ran", (row) => ranCell(row, words)),
  };
}

/** A column for a value from the jobs' workflows. */
export function valueColumn(id: InputId, { labels, pinned }: ColumnChoice, connection: string | undefined) {
  const isPinned = pinned.includes(id);
  const { node, input, name, label } = valueOf(id, labels);
  return column.display({
    id,
    header: label || name,
    meta: isPinned ? pinnedLook : valueLook,
    cell: ({ row }) => <ValueCell id={row.original.id} connection={connection} node={node} input={input} />,
  });
}

export const rowId = (row: JobRow) => row.id;

type JobTableProps = Omit<ComponentProps<typeof DataTable<JobRow>>, "rowId" | "lightText" | "onClick" | "className"> & {
  /** `?connection=` of the page's own address. */
  linked: string | undefined;
  /** Opens a job beside the list; false where there is no room, and the job's page opens instead. */
  onOpen?: (id: string) => boolean;
};

export function JobTable({ linked, onOpen, ...table }: JobTableProps) {
  const states = useTranslations("frame.states");
  const onClick = useRowClick(linked, onOpen);
  const lightText = useCallback(
    (row: JobRow) =>
      [row.state === "unknown" ? row.word : states(row.state), row.id.slice(0, 8), titleOf(row), row.error ?? ""].join("   "),
    [states],
  );
  return <DataTable {...table} rowId={rowId} lightText={lightText} onClick={onClick} className="two-lines" />;
}
