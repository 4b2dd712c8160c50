"use client";

import { useLocale, useTranslations } from "next-intl";
import { use, useMemo } from "react";
import { LowerEdge } from "@/components/data-table/bulk/work-line";
import { SelectionBar } from "@/components/data-table/bulk/work-line";
import { DataTable } from "@/components/data-table/data-table";
import { Paging } from "@/components/data-table/paging";
import { useSelection } from "@/components/data-table/selection/selection";
import { useConnection } from "@/components/frame/connection/connection-context";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { UnreadableRows } from "@/components/frame/list/tool-bar";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useDropTarget } from "@/components/ui/hooks/use-drop-target";
import { useRouter } from "@/components/ui/link";
import { type Dropped, filesOfDrop } from "@/lib/browser/files/dropped-files";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type Capability } from "@/lib/contract/capabilities";
import { type Failure } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type Result } from "@/lib/shared/result";
import { fileColumns } from "./file-columns";
import { NewFolder, useNewFolders } from "./file-dialogs";
import { FilePanel } from "./file-panel";
import { PendingRemovals, RefusedFiles, RemovalReceipt } from "./file-removals";
import { useFileRemoval } from "./file-removals";
import { useFileIntake } from "./file-uploads";
import { FilesEmpty } from "./files-tool-bar";
import { FilesToolBar } from "./files-tool-bar";
import { PickFiles } from "./files-tool-bar";
import { Trail } from "./files-tool-bar";
import { crumbsOf, within } from "./files-view";
import { filesHref, fileSorts, type FilesQuery, ROWS, viewApiPath } from "./files-view";
import { type FileRow, type FilesView, toFilesView, withNewFolders } from "./files-view";
import { UploadsList } from "./uploads-list";

const fileAbilities: readonly Capability[] = ["userdata.read", "userdata.delete", "userdata.move"];

type FilesScreenProps = {
  query: FilesQuery;
  /** `?connection=` of the address, if present. */
  linked?: string;
  /** The path of the file in the panel. */
  opened?: string;
  canChange: boolean;
  files: Promise<Result<Stamped<FilesView>, Failure>>;
};

const rowId = (row: FileRow) => row.path;
const still = () => "still" as const;
const noRows: readonly FileRow[] = [];

export function FilesScreen({ query, linked, opened, canChange, files }: FilesScreenProps) {
  const t = useTranslations("files");
  const locale = useLocale();
  const router = useRouter();
  const first = use(files);
  const connection = useConnection()?.id;
  const { dir, all, name, sort, order, offset } = query;
  const read = useMemo(
    () => (listed: UserdataFile[]) => toFilesView(listed, { dir, all, name, sort, order, offset }),
    [dir, all, name, sort, order, offset],
  );
  const poll = usePoll(connection ? viewApiPath(query, connection) : undefined, { ...initialOf(first), read, motion: still });
  const view = poll.value;
  const newFolders = useNewFolders(connection);
  const rows = view ? withNewFolders(view.rows, query, newFolders.paths) : noRows;
  // An empty list that can no longer be read shows no numbers.
  const counted = poll.failure && rows.length === 0 ? undefined : view;
  const hasFiles = view !== undefined && view.files > 0;
  const abilities = useCapabilities(hasFiles ? connection : undefined, fileAbilities, query.dir);
  const selection = useSelection(rows.filter(({ files }) => files > 0).map(rowId));
  const removal = useFileRemoval({ connection, refresh: poll.refresh });
  const { uploads, addTo } = useFileIntake({ connection, refresh: poll.refresh });
  const go = (change: Partial<FilesQuery>, file?: string) =>
    router.push(filesHref({ ...query, offset: 0, ...change }, { connection: linked, file }), { scroll: false });
  const open = (dir: string) => go({ dir, name: "" });
  const inNew = (name: string) => `${within(query.dir, name)}/`;
  const addIn = (dir: string, dropped: Dropped) => {
    newFolders.forget(dir);
    addTo(dir, dropped);
  };
  const add = (dropped: Dropped) => addIn(query.dir, dropped);
  const drop = useDropTarget((_, transfer) => {
    if (canChange) void filesOfDrop(transfer).then(add);
  });
  const columns = fileColumns({
    t,
    locale,
    canChange,
    canRemove: abilities.has("userdata.delete") !== false,
    count: rows.length,
    selection: selection.store,
    hrefOf: ({ kind, path }) =>
      kind === "folder"
        ? filesHref({ ...query, dir: path, name: "", offset: 0 }, { connection: linked })
        : filesHref(query, { connection: linked, file: path }),
  });
  const direction = (sort: FilesQuery["sort"]) => (query.sort === sort ? query.order : undefined);
  const sorting = Object.fromEntries(
    fileSorts.map((sort) => [
      sort,
      { direction: direction(sort), onSort: () => go({ sort, order: direction(sort) === "asc" ? "desc" : "asc" }) },
    ]),
  );
  const chosen = rows.filter(({ path }) => selection.ids.includes(path) && !removal.busy.has(path));
  const chosenFiles = chosen.reduce((sum, row) => sum + row.files, 0);
  return (
    <div
      {...drop.props}
      className={cn("flex min-h-full flex-1 flex-col", drop.isOver && canChange && "outline-2 -outline-offset-2 outline-accent")}
    >
      <PageHeader
        title={
          <Trail
            title={t("title")}
            crumbs={crumbsOf(query.dir)}
            hrefOf={(dir) => filesHref({ ...query, dir, name: "", offset: 0 }, { connection: linked })}
          />
        }
        count={counted?.files}
      >
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canChange ? (
          <NewFolder
            onName={(name) => {
              newFolders.make(inNew(name));
              open(inNew(name));
            }}
            onFiles={(name, picked) => {
              addIn(inNew(name), picked);
              open(inNew(name));
            }}
          />
        ) : null}
        {canChange ? <PickFiles onFiles={add} /> : null}
      </PageHeader>
      <FilesToolBar query={query} onChange={go} bytes={counted?.bytes}>
        <RemovalReceipt removal={removal} />
      </FilesToolBar>
      <RefusedFiles removal={removal} />
      <UploadsList uploads={uploads} />
      {abilities.isRefused("userdata.delete") ? <p className="px-4 py-2 text-ink-2 md:px-5">{t("noRemove")}</p> : null}
      {removal.state.kind === "unread" ? <FailureMessage failure={removal.state.failure} className="m-4 md:mx-5" /> : null}
      {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} className="m-4 md:mx-5" /> : null}
      <UnreadableRows count={view?.unreadable} />
      <div className="flex flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          {rows.length > 0 ? (
            <DataTable
              caption={t("caption")}
              columns={columns}
              rows={rows}
              rowId={rowId}
              sorting={sorting}
              isSelected={(row) => row.path === opened}
              marks={selection.store}
              isBusy={(row) => removal.busy.has(row.path)}
            />
          ) : null}
          {view && rows.length === 0 && !poll.failure && !view.unreadable ? (
            <FilesEmpty
              query={query}
              hasFiles={view.files > 0}
              below={view.below}
              canChange={canChange}
              onOpen={open}
              onClear={() => go({ name: "" })}
              onAll={() => go({ all: true })}
              onFiles={add}
            />
          ) : null}
          <LowerEdge>
            <PendingRemovals removal={removal} />
            <SelectionBar count={selection.ids.length} onClear={selection.store.clear}>
              {abilities.has("userdata.delete") ? (
                <Button
                  size="small"
                  onClick={() => {
                    removal.remove(chosen.map(rowId));
                    selection.store.clear();
                  }}
                >
                  {t("remove", { count: chosenFiles })}
                </Button>
              ) : null}
            </SelectionBar>
          </LowerEdge>
          {view && (view.total > ROWS || query.offset > 0) ? (
            <Paging
              offset={query.offset}
              limit={ROWS}
              count={rows.length}
              total={view.total}
              hrefOf={(offset) => filesHref({ ...query, offset }, { connection: linked })}
              className="mt-auto md:sticky md:bottom-0 md:z-20"
            />
          ) : null}
        </div>
        {opened ? (
          <FilePanel
            path={opened}
            row={rows.find(({ path }) => path === opened)}
            connection={connection}
            linked={linked}
            canChange={canChange}
            abilities={abilities}
            onClose={() => router.push(filesHref(query, { connection: linked }), { scroll: false })}
            onRemove={() => {
              removal.remove([opened]);
              router.push(filesHref(query, { connection: linked }), { scroll: false });
            }}
            onMoved={(to) => {
              void poll.refresh();
              router.push(filesHref(query, { connection: linked, file: to }), { scroll: false });
            }}
          />
        ) : null}
      </div>
    </div>
  );
}
