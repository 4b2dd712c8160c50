"use client";

import { FileJson, FileText, Folder } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { use, useMemo } from "react";
import { BottomBar, SelectionBar } from "@/components/data-table/bulk/bottom-bar";
import { DataTable } from "@/components/data-table/data-table";
import { Paging } from "@/components/data-table/paging";
import { SelectAllRows, type SelectionStore, SelectRow, useSelection } from "@/components/data-table/selection";
import { type ColumnStyle, createColumns } from "@/components/data-table/table-columns";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Freshness, UnreadableRows } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useDropTarget } from "@/components/ui/hooks/use-file-picker";
import { Link, useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { type DroppedFiles, readDroppedFiles } from "@/lib/browser/files/dropped-files";
import { type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { type Capability } from "@/lib/contract/capabilities";
import { type Failure } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";
import { NewFolder, RemovalLines, useFileRemoval, useNewFolders } from "./file-dialogs";
import { FilePanel } from "./file-panel";
import { Breadcrumbs, FilesEmpty, FilesToolBar, UploadButtons } from "./files-tool-bar";
import {
  type FileRow,
  fileSorts,
  type FilesQuery,
  type FilesView,
  getFilesHref,
  getViewApiPath,
  joinPath,
  ROWS_PER_PAGE,
  toCrumbs,
  toFilesView,
  withNewFolders,
} from "./files-view";
import { UploadsList, useFileUploads } from "./uploads-list";

const fileCapabilities: readonly Capability[] = ["userdata.read", "userdata.delete", "userdata.move"];

type FilesScreenProps = {
  query: FilesQuery;
  openedPath?: string;
  canChange: boolean;
  files: Promise<Result<TimedValue<FilesView>, Failure>>;
};

const getRowId = (row: FileRow) => row.path;
const noRows: readonly FileRow[] = [];

export function FilesScreen({ query, openedPath, canChange, files }: FilesScreenProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("files");
  const locale = useLocale();
  const router = useRouter();
  const initialResult = use(files);
  const connection = useConnection()?.id;
  const { dir, all, name, sort, order, offset } = query;
  const parseFiles = useMemo(
    () => (files: UserdataFile[]) => toFilesView(files, { dir, all, name, sort, order, offset }),
    [dir, all, name, sort, order, offset],
  );
  const live = useLive(connection ? getViewApiPath(query, connection) : undefined, {
    ...toInitialOptions(initialResult),
    read: parseFiles,
  });
  const view = live.value;
  const newFolders = useNewFolders(connection);
  const rows = view ? withNewFolders(view.rows, query, newFolders.paths) : noRows;
  // No numbers are shown if the list is empty and can't be read.
  const currentView = live.failure && rows.length === 0 ? undefined : view;
  const hasFiles = view !== undefined && view.fileCount > 0;
  const capabilities = useCapabilities(hasFiles ? connection : undefined, fileCapabilities, query.dir);
  const selection = useSelection(rows.filter(({ fileCount }) => fileCount > 0).map(getRowId));
  const removal = useFileRemoval({ connection, refresh: live.refresh });
  const { uploads, uploadFiles } = useFileUploads({ connection, refresh: live.refresh });
  const navigate = (change: Partial<FilesQuery>, file?: string) =>
    router.push(getFilesHref({ ...query, offset: 0, ...change }, { connection: connectionParam, file }), { scroll: false });
  const openFolder = (dir: string) => navigate({ dir, name: "" });
  const toFolderPath = (name: string) => `${joinPath(query.dir, name)}/`;
  const addFiles = (dir: string, dropped: DroppedFiles) => {
    newFolders.remove(dir);
    uploadFiles(dir, dropped);
  };
  const addToCurrentFolder = (dropped: DroppedFiles) => addFiles(query.dir, dropped);
  const dropTarget = useDropTarget((_, transfer) => {
    if (canChange) void readDroppedFiles(transfer).then(addToCurrentFolder);
  });
  const columns = createFileColumns({
    t,
    locale,
    canChange,
    canRemove: capabilities.has("userdata.delete") !== false,
    count: rows.length,
    selection: selection.store,
    getHref: ({ kind, path }) =>
      kind === "folder"
        ? getFilesHref({ ...query, dir: path, name: "", offset: 0 }, { connection: connectionParam })
        : getFilesHref(query, { connection: connectionParam, file: path }),
  });
  const getDirection = (sort: FilesQuery["sort"]) => (query.sort === sort ? query.order : undefined);
  const sorting = Object.fromEntries(
    fileSorts.map((sort) => [
      sort,
      { direction: getDirection(sort), onSort: () => navigate({ sort, order: getDirection(sort) === "asc" ? "desc" : "asc" }) },
    ]),
  );
  const selectedRows = rows.filter(({ path }) => selection.ids.includes(path) && !removal.isBusy(path));
  const selectedFileCount = selectedRows.reduce((sum, row) => sum + row.fileCount, 0);
  return (
    <div
      {...dropTarget.props}
      className={cn("flex min-h-full flex-1 flex-col", dropTarget.isOver && canChange && "outline-2 -outline-offset-2 outline-accent")}
    >
      <PageHeader
        title={
          <Breadcrumbs
            title={t("title")}
            crumbs={toCrumbs(query.dir)}
            getHref={(dir) => getFilesHref({ ...query, dir, name: "", offset: 0 }, { connection: connectionParam })}
          />
        }
        count={currentView?.fileCount}
      >
        <Freshness atMs={live.atMs} isFailing={live.failure !== undefined} />
        {canChange ? (
          <NewFolder
            onCreate={(name) => {
              newFolders.add(toFolderPath(name));
              openFolder(toFolderPath(name));
            }}
            onFiles={(name, dropped) => {
              addFiles(toFolderPath(name), dropped);
              openFolder(toFolderPath(name));
            }}
          />
        ) : null}
        {canChange ? <UploadButtons onFiles={addToCurrentFolder} /> : null}
      </PageHeader>
      <FilesToolBar query={query} onChange={navigate} bytes={currentView?.bytes} />
      <UploadsList uploads={uploads} />
      {capabilities.isRefused("userdata.delete") ? <p className="px-4 py-2 text-ink-2 md:px-5">{t("noRemove")}</p> : null}
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} className="m-4 md:mx-5" /> : null}
      <UnreadableRows count={view?.unreadableCount} />
      <div className="flex flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          {rows.length > 0 ? (
            <DataTable
              caption={t("caption")}
              columns={columns}
              rows={rows}
              rowId={getRowId}
              sorting={sorting}
              isSelected={(row) => row.path === openedPath}
              marks={selection.store}
              isBusy={(row) => removal.isBusy(row.path)}
            />
          ) : null}
          {view && rows.length === 0 && !live.failure && !view.unreadableCount ? (
            <FilesEmpty
              query={query}
              hasFiles={view.fileCount > 0}
              nestedMatchCount={view.nestedMatchCount}
              canChange={canChange}
              onOpen={openFolder}
              onClear={() => navigate({ name: "" })}
              onFirstPage={() => navigate({ offset: 0 })}
              onAll={() => navigate({ all: true })}
              onFiles={addToCurrentFolder}
            />
          ) : null}
          <BottomBar>
            <RemovalLines removal={removal} />
            <SelectionBar count={selection.ids.length} onClear={selection.store.clear}>
              {capabilities.has("userdata.delete") ? (
                <Button
                  size="small"
                  onClick={() => {
                    void removal.remove(selectedRows.map(getRowId));
                    selection.store.clear();
                  }}
                >
                  {t("remove", { count: selectedFileCount })}
                </Button>
              ) : null}
            </SelectionBar>
          </BottomBar>
          {view && (view.total > ROWS_PER_PAGE || query.offset > 0) ? (
            <Paging
              offset={query.offset}
              limit={ROWS_PER_PAGE}
              count={rows.length}
              total={view.total}
              getHref={(offset) => getFilesHref({ ...query, offset }, { connection: connectionParam })}
              className="mt-auto md:sticky md:bottom-0 md:z-20"
            />
          ) : null}
        </div>
        {openedPath ? (
          <FilePanel
            path={openedPath}
            row={rows.find(({ path }) => path === openedPath)}
            connection={connection}
            canChange={canChange}
            capabilities={capabilities}
            onClose={() => router.push(getFilesHref(query, { connection: connectionParam }), { scroll: false })}
            onRemove={() => {
              void removal.remove([openedPath]);
              router.push(getFilesHref(query, { connection: connectionParam }), { scroll: false });
            }}
            onMoved={(newPath) => {
              void live.refresh();
              router.push(getFilesHref(query, { connection: connectionParam, file: newPath }), { scroll: false });
            }}
          />
        ) : null}
      </div>
    </div>
  );
}

const columnHelper = createColumns<FileRow>();

type FileColumnsOptions = {
  t: ReturnType<typeof useTranslations<"files">>;
  locale: string;
  canChange: boolean;
  /** Deleting is the only bulk action. Without it, the checkbox column stays empty, so that names don't shift. */
  canRemove: boolean;
  getHref: (row: FileRow) => string;
  count: number;
  selection: SelectionStore;
};

function createFileColumns({ t, locale, canChange, canRemove, getHref, count, selection }: FileColumnsOptions) {
  const columns = columnHelper.columns([
    columnHelper.display({
      id: "select",
      meta: fileColumnStyles.select,
      header: () => (canRemove ? <SelectAllRows label={t("selectAll", { count })} store={selection} isEmpty={count === 0} /> : null),
      cell: ({ row: { original } }) =>
        canRemove && original.fileCount > 0 ? (
          <SelectRow id={original.path} label={t("select", { name: original.name })} store={selection} />
        ) : null,
    }),
    columnHelper.accessor("name", {
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
              {original.fileCount > 0 ? t("filesInside", { count: original.fileCount }) : t("newFolder.empty")}
            </span>
          ) : null}
        </span>
      ),
    }),
    columnHelper.accessor("bytes", {
      id: "size",
      header: t("column.size"),
      meta: fileColumnStyles.size,
      cell: ({ getValue }) => {
        const bytes = getValue();
        return <span className="text-ink-2">{bytes === undefined ? t("nothing") : formatBytes(bytes, locale)}</span>;
      },
    }),
    columnHelper.accessor("modifiedMs", {
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
