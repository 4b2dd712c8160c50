"use client";

import { FileJson, FileText, Folder } from "lucide-react";
import { type useTranslations } from "next-intl";
import { SelectAllRows, type SelectionStore, SelectRow } from "@/components/data-table/selection/selection";
import { type ColumnStyle, createColumns } from "@/components/data-table/table-columns";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { FileName } from "@/components/ui/truncated";
import { formatBytes } from "@/lib/shared/text";
import { type FileRow } from "./files-view";

const column = createColumns<FileRow>();

type FileColumnsOptions = {
  t: ReturnType<typeof useTranslations<"files">>;
  locale: string;
  canChange: boolean;
  /** Deleting is the only bulk action. Without it, the checkbox column is kept empty, so that names don't move. */
  canRemove: boolean;
  getHref: (row: FileRow) => string;
  count: number;
  selection: SelectionStore;
};

export function fileColumns({ t, locale, canChange, canRemove, getHref, count, selection }: FileColumnsOptions) {
  const columns = column.columns([
    column.display({
      id: "select",
      meta: fileColumnStyles.select,
      header: () => (canRemove ? <SelectAllRows label={t("selectAll", { count })} store={selection} isEmpty={count === 0} /> : null),
      cell: ({ row: { original } }) =>
        canRemove && original.files > 0 ? (
          <SelectRow id={original.path} label={t("select", { name: original.name })} store={selection} />
        ) : null,
    }),
    column.accessor("name", {
      header: t("column.name"),
      meta: fileColumnStyles.name,
      cell: ({ row: { original } }) => (
        <span className="flex min-w-0 items-center gap-2.5">
          <FileIcon row={original} />
          <Link href={getHref(original)} prefetch={false} scroll={false} title={original.path} className="row-link truncate text-ink">
            <FileName name={original.name} />
            {original.kind === "folder" ? "/" : ""}
          </Link>
          {original.kind === "folder" ? (
            <span className="shrink-0 text-sm text-ink-3">
              {original.files > 0 ? t("filesInside", { count: original.files }) : t("newFolder.empty")}
            </span>
          ) : null}
        </span>
      ),
    }),
    column.accessor("bytes", {
      id: "size",
      header: t("column.size"),
      meta: fileColumnStyles.size,
      cell: ({ getValue }) => {
        const bytes = getValue();
        return <span className="text-ink-2">{bytes === undefined ? t("nothing") : formatBytes(bytes, locale)}</span>;
      },
    }),
    column.accessor("modifiedMs", {
      id: "modified",
      header: t("column.modified"),
      meta: fileColumnStyles.modified,
      cell: ({ getValue }) => {
        const ms = getValue();
        return ms === undefined ? t("nothing") : <RelativeTime ms={ms} className="relative text-ink-2" />;
      },
    }),
  ]);
  return canChange ? columns : columns.filter(({ id }) => id !== "select");
}

function FileIcon({ row: { kind, name } }: { row: FileRow }) {
  const Icon = kind === "folder" ? Folder : /\.json$/i.test(name) ? FileJson : FileText;
  return <Icon aria-hidden="true" className="size-4 shrink-0 text-ink-3" />;
}

const fileColumnStyles = {
  select: { width: "w-[40px]" },
  name: { visibility: "max-w-0" },
  size: { width: "w-[110px]", visibility: "max-sm:pr-4", align: "end" },
  modified: { width: "w-[130px]", visibility: "max-sm:hidden", align: "end" },
} as const satisfies Record<string, ColumnStyle>;
