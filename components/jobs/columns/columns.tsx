import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode, useCallback, useMemo, useSyncExternalStore } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { SelectAllRows, type SelectionStore, SelectRow } from "@/components/data-table/selection";
import { type ColumnStyle, createColumns } from "@/components/data-table/table-columns";
import { renderPlainPicture } from "@/components/ui/pictures/plain-picture";
import { renderTruncated, Truncated } from "@/components/ui/truncated";
import { createPersistedValue, type PersistedValue } from "@/lib/browser/persisted-value";
import { createLivePreviewUrl, createThumbnailUrl, toShortId } from "@/lib/browser/urls";
import { type InputId, MAX_INPUTS, parseInputId, splitInputId } from "@/lib/contract/jobs/job-list";
import { filter, isTrue, list, map, number, object } from "@/lib/contract/json/readers";
import { type JobRow } from "../job-row";
import {
  type CellTexts,
  getRowHref,
  getRowTitle,
  renderCopyButton,
  renderDetailsCell,
  renderRowLink,
  renderRunTimeCell,
  renderStateCell,
  renderSubmittedCell,
  useRowClick,
} from "./cells";

// Loaded only if the list shows a column of workflow values.
const ValueCell = dynamic(() => import("./value-cell").then((module) => module.ValueCell), { ssr: false, loading: () => " " });

export const columnHelper = createColumns<JobRow>();

export const jobColumnStyles = {
  select: { width: "w-10 md:w-[46px]", visibility: "whole-cell", isFixedWidth: true },
  preview: { width: "w-[72px]", visibility: "whole-cell", hiddenHeader: true, isFixedWidth: true },
  status: { width: "w-[120px] max-sm:takes-rest" },
  job: { width: "w-[108px]" },
  workflow: { width: "w-[176px] min-[90rem]:w-[260px]", visibility: "max-lg:hidden max-xl:in-[.with-panel]:hidden" },
  /** Columns of workflow values never shrink the others. The table scrolls instead. */
  what: { visibility: "max-lg:hidden xl:min-w-[144px] xl:in-[.with-panel]:min-w-0", hiddenHeader: true },
  outputs: { width: "w-[78px]", visibility: "max-md:hidden in-[.with-panel]:hidden", align: "end" },
  by: { width: "w-[116px]", visibility: "max-xl:hidden in-[.with-panel]:hidden" },
  submitted: { width: "w-[112px]", visibility: "max-sm:hidden in-[.with-panel]:hidden", align: "end" },
  ran: { width: "w-[100px]", visibility: "max-sm:hidden in-[.with-panel]:hidden", align: "end" },
} as const satisfies Record<string, ColumnStyle>;

const valueColumnStyle = { width: "w-[150px]", visibility: "max-lg:hidden in-[.with-panel]:hidden" } as const satisfies ColumnStyle;

const pinnedColumnStyle = { ...valueColumnStyle, visibility: jobColumnStyles.workflow.visibility } as const satisfies ColumnStyle;

type SelectColumn = {
  store: SelectionStore;
  t: CellTexts["t"];
  selectAllLabel: string;
  /** Whether a row has a checkbox. Default: all rows. */
  hasCheckbox?: (row: JobRow) => boolean;
  isEmpty?: boolean;
};

const ID_PLACEHOLDER = "\u0001";

export function createSelectColumn({ store, t, selectAllLabel, hasCheckbox, isEmpty }: SelectColumn) {
  // Formatted once, not once per row.
  const label = t("select", { id: ID_PLACEHOLDER });
  return columnHelper.display({
    id: "select",
    meta: jobColumnStyles.select,
    header: () => <SelectAllRows label={selectAllLabel} store={store} isEmpty={isEmpty} />,
    cell: ({ row: { original } }) =>
      hasCheckbox?.(original) === false ? null : (
        <SelectRow id={original.id} label={label.replace(ID_PLACEHOLDER, toShortId(original.id))} store={store} />
      ),
  });
}

type JobColumnsOptions = {
  connection: string | undefined;
  /** The page's `?connection=`, which its links keep. */
  connectionParam: string | undefined;
  /** Content at the end of a row's second line. Default: the submission time. */
  renderLineEnd?: (row: JobRow) => ReactNode;
  /** True if the user set the column's width, so that longer text is truncated. */
  isWorkflowTruncated?: boolean;
  isSubmitterTruncated?: boolean;
  columnStyles?: Partial<Record<NamedColumnId, ColumnStyle>>;
};

/** Creates all columns of job lists. Each list uses some of them. */
export function createJobColumns(
  texts: CellTexts,
  {
    connection,
    connectionParam,
    renderLineEnd,
    isWorkflowTruncated,
    isSubmitterTruncated,
    columnStyles = jobColumnStyles,
  }: JobColumnsOptions,
) {
  const { t } = texts;
  const copyLabel = t("copyId");
  const getHref = (id: string) => getRowHref(id, connectionParam);
  const createNamedColumn = (id: NamedColumnId, cell: (row: JobRow) => ReactNode) =>
    columnHelper.display({ id, header: t(`column.${id}`), meta: columnStyles[id], cell: ({ row }) => cell(row.original) });
  return {
    preview: createNamedColumn("preview", (row) => renderRowPreview(row, connection)),
    status: createNamedColumn("status", (row) => renderStateCell({ row, texts, getHref, renderLineEnd })),
    job: createNamedColumn("job", ({ id }) => (
      <>
        {renderRowLink(id, getHref(id), texts.cannotOpen)}
        {renderCopyButton(copyLabel)}
      </>
    )),
    workflow: createNamedColumn("workflow", (row) =>
      isWorkflowTruncated ? <Truncated text={getRowTitle(row)} /> : renderTruncated(getRowTitle(row)),
    ),
    what: createNamedColumn("what", (row) => renderDetailsCell({ row, texts, getHref })),
    outputs: createNamedColumn("outputs", ({ outputs }) => outputs || t("nothing")),
    by: createNamedColumn("by", ({ submittedBy, submittedToken }) => {
      if (submittedBy === undefined) return t("nothing");
      const text = submittedToken === undefined ? submittedBy : t("byToken", { token: submittedToken, name: submittedBy });
      return isSubmitterTruncated ? <Truncated text={text} /> : renderTruncated(text);
    }),
    submitted: createNamedColumn("submitted", (row) => renderSubmittedCell(row, texts)),
    ran: createNamedColumn("ran", (row) => renderRunTimeCell(row, texts)),
  };
}

/** A running job's newest preview, or a finished job's first output. */
export function renderRowPreview({ id, preview, previewKind, livePreview }: JobRow, connection: string | undefined): ReactNode {
  const src =
    livePreview === undefined
      ? preview && createThumbnailUrl({ connection, file: preview, edge: 128 })
      : createLivePreviewUrl({ connection, jobId: id, version: livePreview });
  return renderPlainPicture({ src, width: 52, height: 36, kind: previewKind, className: "h-9 w-[52px]" });
}

export function createValueColumn(id: InputId, { pinned }: ColumnChoice, connection: string | undefined) {
  const isPinned = pinned.includes(id);
  const { node, input, name } = splitInputId(id);
  return columnHelper.display({
    id,
    header: name,
    meta: isPinned ? pinnedColumnStyle : valueColumnStyle,
    cell: ({ row }) => <ValueCell id={row.original.id} connection={connection} node={node} input={input} />,
  });
}

export const getRowId = (row: JobRow) => row.id;

type JobTableProps = Omit<ComponentProps<typeof DataTable<JobRow>>, "rowId" | "placeholderText" | "onClick" | "className"> & {
  /** Opens a job in the side panel. Returns false if there is no space, and the job's page opens instead. */
  onOpen?: (id: string) => boolean;
};

export function JobTable({ onOpen, ...table }: JobTableProps) {
  const states = useTranslations("frame.states");
  const onClick = useRowClick(onOpen);
  const placeholderText = useCallback(
    (row: JobRow) =>
      [row.state === "unknown" ? row.rawStatus : states(row.state), toShortId(row.id), getRowTitle(row), row.error ?? ""].join("   "),
    [states],
  );
  return <DataTable {...table} rowId={getRowId} placeholderText={placeholderText} onClick={onClick} className="two-lines" />;
}

// The columns of the job list, their order and widths.

const columnIds = ["preview", "status", "job", "workflow", "what", "outputs", "by", "submitted", "ran"] as const;
export type NamedColumnId = (typeof columnIds)[number];
export type ColumnId = NamedColumnId | InputId;

export type ColumnChoice = {
  order: readonly ColumnId[];
  hidden: readonly ColumnId[];
  widths: Readonly<Record<string, number>>;
  /** Inputs that stay visible next to the workflow while a job is open. */
  pinned: readonly ColumnId[];
  isCompact: boolean;
};

/** The `job` column contains the row's link. */
export const requiredColumns: readonly ColumnId[] = ["status", "job"];
export const DEFAULT_CHOICE: ColumnChoice = { order: columnIds, hidden: [], widths: {}, pinned: [], isCompact: false };
/** Used while one member has submitted all jobs, where this column is redundant. */
export const singleMemberChoice: ColumnChoice = { ...DEFAULT_CHOICE, hidden: ["by"] };

export function getVisibleColumns({ order, hidden }: ColumnChoice): ColumnId[] {
  return order.filter((id) => requiredColumns.includes(id) || !hidden.includes(id));
}

export function isInputId(id: ColumnId): id is InputId {
  return id.startsWith("input:");
}

const parseStoredFields = object(
  {},
  {
    order: list(parseColumnId, 50),
    hidden: list(parseColumnId, 50),
    pinned: list(parseColumnId, 50),
    widths: map(filter(number, (width) => width >= 40 && width <= 1000)),
    isCompact: isTrue,
  },
);

/** Parses the stored choice. Invalid fields fall back to the default. */
export function parseColumnChoice(storedValue: unknown): ColumnChoice {
  const { order = [], hidden = [], ...choice } = parseStoredFields(storedValue) ?? {};
  const orderedIds = limitInputs(order);
  return {
    ...DEFAULT_CHOICE,
    ...choice,
    order: [...orderedIds, ...columnIds.filter((id) => !orderedIds.includes(id))],
    // Hides the "by" column in choices that were stored before it existed.
    hidden: limitInputs(orderedIds.length > 0 && !orderedIds.includes("by") ? [...hidden, "by"] : hidden),
  };
}

function limitInputs(ids: readonly ColumnId[]): ColumnId[] {
  const inputIds = ids.filter(isInputId).slice(0, MAX_INPUTS);
  return [...new Set(ids)].filter((id) => !isInputId(id) || inputIds.includes(id));
}

function parseColumnId(value: unknown): ColumnId | undefined {
  return columnIds.find((id) => id === value) ?? parseInputId(value);
}

export function addInput(choice: ColumnChoice, id: InputId): ColumnChoice {
  if (choice.order.includes(id)) return { ...choice, hidden: choice.hidden.filter((columnId) => columnId !== id) };
  return choice.order.filter(isInputId).length >= MAX_INPUTS ? choice : { ...choice, order: insertAfterWorkflow(choice.order, id) };
}

export function pinInput(choice: ColumnChoice, id: InputId, isPinned: boolean): ColumnChoice {
  const pinned = choice.pinned.filter((columnId) => columnId !== id);
  return isPinned ? { ...choice, order: insertAfterWorkflow(choice.order, id), pinned: [...pinned, id] } : { ...choice, pinned };
}

export function withInputs(choice: ColumnChoice, ids: readonly InputId[]): ColumnChoice {
  const choiceWithoutInputs: ColumnChoice = { ...choice, order: choice.order.filter((id) => !isInputId(id)), pinned: [] };
  return ids.toReversed().reduce((current, id) => pinInput(addInput(current, id), id, true), choiceWithoutInputs);
}

export function getVisibleInputs(choice: ColumnChoice): InputId[] {
  return getVisibleColumns(choice).filter(isInputId);
}

function insertAfterWorkflow(order: readonly ColumnId[], id: InputId): ColumnId[] {
  const otherColumns = order.filter((columnId) => columnId !== id);
  return otherColumns.toSpliced(otherColumns.indexOf("workflow") + 1, 0, id);
}

/** Shared by all callers. Empty on the server. */
const choicesByConnection = new Map<string, PersistedValue<ColumnChoice | undefined>>();

function getStoredChoice(connection: string): PersistedValue<ColumnChoice | undefined> {
  const parseStored = (value: unknown) => (value === undefined ? undefined : parseColumnChoice(value));
  const storedChoice = choicesByConnection.get(connection) ?? createPersistedValue(`lightdesk:jobs-columns:${connection}`, parseStored);
  if (typeof window !== "undefined") choicesByConnection.set(connection, storedChoice);
  return storedChoice;
}

/**
 * The columns of the list, stored in this browser per connection and synced between tabs. `defaultChoice` must be a stable object, since a new
 * one renders every row again.
 */
export function useColumnChoice(connection = "", defaultChoice: ColumnChoice): [ColumnChoice, (choice: ColumnChoice) => void] {
  const storedChoice = useMemo(() => getStoredChoice(connection), [connection]);
  const columnChoice = useSyncExternalStore(storedChoice.subscribe, storedChoice.get, () => undefined);
  return [columnChoice ?? defaultChoice, storedChoice.set];
}

export function useColumnName(): (id: ColumnId) => string {
  const t = useTranslations("jobList.column");
  return (id) => (isInputId(id) ? splitInputId(id).name : t(id));
}
