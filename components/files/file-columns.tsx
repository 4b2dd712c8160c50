import { FileJson, FileText, Folder } from "lucide-react";
import { type useTranslations } from "next-intl";
import { FileName } from "@/components/ui/cut";
import { type Column } from "@/components/data-table/features";
import { SelectAllRows, SelectRow } from "@/components/data-table/selection/select-cells";
import { type SelectionStore } from "@/components/data-table/selection/selection-store";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { formatBytes } from "@/lib/shared/format";
import { fileLooks } from "./file-looks";
import { type FileRow } from "./files-view";

type Choices = {
  t: ReturnType<typeof useTranslations<"files">>;
  locale: string;
  canChange: boolean;
  /** Deleting is the only bulk act. Without it the checkboxes' column stays, so that no name moves. */
  canRemove: boolean;
  hrefOf: (row: FileRow) => string;
  count: number;
  selection: SelectionStore;
};

export function fileColumns({ t, locale, canChange, canRemove, hrefOf, count, selection }: Choices) {
  const columns: Column<FileRow>[] = [
    {
      id: "select",
      look: fileLooks.select,
      header: canRemove ? <SelectAllRows label={t("selectAll", { count })} store={selection} isEmpty={count === 0} /> : null,
      cell: (row) =>
        canRemove && row.files > 0 ? <SelectRow id={row.path} label={t("select", { name: row.name })} store={selection} /> : null,
    },
    {
      id: "name",
      header: t("column.name"),
      look: fileLooks.name,
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-2.5">
          <Sign row={row} />
          <Link href={hrefOf(row)} prefetch={false} scroll={false} title={row.path} className="row-link truncate text-ink">
            <FileName name={row.name} />
            {row.kind === "folder" ? "/" : ""}
          </Link>
          {row.kind === "folder" ? (
            <span className="shrink-0 text-sm text-ink-3">
              {row.files > 0 ? t("filesInside", { count: row.files }) : t("newFolder.empty")}
            </span>
          ) : null}
        </span>
      ),
    },
    {
      id: "size",
      header: t("column.size"),
      look: fileLooks.size,
      cell: ({ bytes }) => <span className="text-ink-2">{bytes === undefined ? t("nothing") : formatBytes(bytes, locale)}</span>,
    },
    {
      id: "modified",
      header: t("column.modified"),
      look: fileLooks.modified,
      cell: ({ modifiedMs: ms }) => (ms === undefined ? t("nothing") : <RelativeTime ms={ms} className="relative text-ink-2" />),
    },
  ];
  return canChange ? columns : columns.filter(({ id }) => id !== "select");
}

function Sign({ row: { kind, name } }: { row: FileRow }) {
  const Icon = kind === "folder" ? Folder : /\.json$/i.test(name) ? FileJson : FileText;
  return <Icon aria-hidden="true" className="size-4 shrink-0 text-ink-3" />;
}
