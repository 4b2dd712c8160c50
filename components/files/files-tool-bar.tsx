import { useLocale, useTranslations } from "next-intl";
import { Fragment, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { Button, chipStyle } from "@/components/ui/controls/button";
import { SearchField } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { Link } from "@/components/ui/link";
import { FileName } from "@/components/ui/truncated";
import { type DroppedFiles, readFileInput } from "@/lib/browser/files/dropped-files";
import { ROOT_FOLDER } from "@/lib/contract/assets/file-refs";
import { formatBytes } from "@/lib/shared/text";
import { type Crumb, type FilesQuery } from "./files-view";

type FilesToolBarProps = {
  query: FilesQuery;
  bytes: number | undefined;
  onChange: (change: Partial<FilesQuery>) => void;
};

export function FilesToolBar({ query, bytes, onChange }: FilesToolBarProps) {
  const t = useTranslations("files");
  const locale = useLocale();
  return (
    <ToolBar label={t("filters")}>
      <SearchField
        aria-label={t("name")}
        placeholder={t("name")}
        text={query.name}
        className="w-52 shrink-0"
        onSearch={(name) => onChange({ name })}
      />
      <button type="button" aria-pressed={query.all} onClick={() => onChange({ all: !query.all })} className={chipStyle(query.all)}>
        {t("all")}
      </button>
      {bytes === undefined ? null : <span className="shrink-0 text-ink-3">{t("size", { size: formatBytes(bytes, locale) })}</span>}
    </ToolBar>
  );
}

export function UploadButtons({ onFiles }: { onFiles: (dropped: DroppedFiles) => void }) {
  const t = useTranslations("files.upload");
  const addFiles = (files: File[]) => onFiles(readFileInput(files));
  const filePicker = useFilePicker({ isMultiple: true, testId: "user-files", onFiles: addFiles });
  const folderPicker = useFilePicker({ isFolder: true, testId: "user-folder", onFiles: addFiles });
  return (
    <>
      <Button className="max-sm:hidden" onClick={folderPicker.open}>
        {t("folder")}
      </Button>
      <Button tone="primary" onClick={filePicker.open}>
        {t("files")}
      </Button>
      {filePicker.input}
      {folderPicker.input}
    </>
  );
}

/** The number of folders shown at the end of a deep path. */
const MAX_SHOWN_FOLDERS = 2;
const crumbStyle = "rounded-sm font-normal text-ink-2 hover:text-ink";

/** Links to the parent folders. A button expands a long path. */
export function Breadcrumbs({ title, crumbs, getHref }: { title: string; crumbs: readonly Crumb[]; getHref: (dir: string) => string }) {
  const t = useTranslations("files");
  const [isExpanded, setExpanded] = useState(false);
  const firstLink = useRef<HTMLAnchorElement>(null);
  const hiddenCount = isExpanded || crumbs.length <= MAX_SHOWN_FOLDERS + 1 ? 0 : crumbs.length - MAX_SHOWN_FOLDERS;
  const currentCrumb = crumbs.at(-1);
  if (!currentCrumb) return title;
  function expand() {
    flushSync(() => setExpanded(true));
    // The button disappears when clicked, so the focus moves to the first new link.
    firstLink.current?.focus();
  }
  return (
    <span className="flex min-w-0 flex-wrap items-center">
      <Link href={getHref("/")} className={crumbStyle}>
        {title}
      </Link>
      {hiddenCount > 0 ? (
        <>
          <Slash />
          <button type="button" aria-label={t("wholeTrail", { count: hiddenCount })} onClick={expand} className={`${crumbStyle} px-1`}>
            …
          </button>
        </>
      ) : null}
      {crumbs.slice(hiddenCount, -1).map(({ name, dir }, index) => (
        <Fragment key={dir}>
          <Slash />
          <Link
            ref={index === 0 ? firstLink : undefined}
            href={getHref(dir)}
            title={dir}
            className={`${crumbStyle} max-w-48 truncate max-sm:max-w-28`}
          >
            <FileName name={name} />
          </Link>
        </Fragment>
      ))}
      <Slash />
      <span title={currentCrumb.dir} className="max-w-[min(28rem,75vw)] truncate">
        <FileName name={currentCrumb.name} />
      </span>
    </span>
  );
}

function Slash() {
  return (
    <span aria-hidden="true" className="mx-1.5 font-normal text-ink-3">
      /
    </span>
  );
}

const WORKFLOWS_FOLDER = "workflows/";

type FilesEmptyProps = {
  query: FilesQuery;
  hasFiles: boolean;
  nestedMatchCount?: number;
  canChange: boolean;
  onOpen: (dir: string) => void;
  onClear: () => void;
  onFirstPage: () => void;
  onAll?: () => void;
  onFiles: (dropped: DroppedFiles) => void;
};

/** Services create a folder when its first file is uploaded. */
export function FilesEmpty({
  query,
  hasFiles,
  nestedMatchCount = 0,
  canChange,
  onOpen,
  onClear,
  onFirstPage,
  onAll,
  onFiles,
}: FilesEmptyProps) {
  const uploadTexts = useTranslations("files.upload");
  const filePicker = useFilePicker({ isMultiple: true, onFiles: (files) => onFiles(readFileInput(files)) });
  const t = useTranslations("files.empty");
  if (nestedMatchCount > 0)
    return <EmptyState title={t("elsewhere")} action={<Button onClick={onAll}>{t("below", { count: nestedMatchCount })}</Button>} />;
  if (hasFiles && query.offset > 0)
    return <EmptyState title={t("pastEnd")} action={<Button onClick={onFirstPage}>{t("firstPage")}</Button>} />;
  if (hasFiles || query.name !== "") {
    return <EmptyState title={t("filtered")} action={<Button onClick={onClear}>{t("clear")}</Button>} />;
  }
  if (query.dir !== ROOT_FOLDER) {
    const title = t("folder", { dir: query.dir });
    if (!canChange) return <EmptyState title={title} text={t("folderReadOnly")} />;
    return (
      <>
        <EmptyState title={title} text={t("folderText")} action={<Button onClick={filePicker.open}>{uploadTexts("files")}</Button>} />
        {filePicker.input}
      </>
    );
  }
  return (
    <EmptyState
      title={t("top")}
      text={t(canChange ? "topText" : "topReadOnly")}
      action={<Button onClick={() => onOpen(WORKFLOWS_FOLDER)}>{t("open", { dir: WORKFLOWS_FOLDER })}</Button>}
    />
  );
}
