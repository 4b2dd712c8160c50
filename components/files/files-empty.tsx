import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";
import { type Dropped, filesOfInput } from "@/lib/browser/files/dropped-files";
import { TOP } from "@/lib/contract/assets/file-refs";
import { type FilesQuery } from "./files-address";

const WORKFLOWS = "workflows/";

type FilesEmptyProps = {
  query: FilesQuery;
  hasFiles: boolean;
  /** Matching files in its subfolders. */
  below?: number;
  canChange: boolean;
  onOpen: (dir: string) => void;
  onClear: () => void;
  onAll?: () => void;
  onFiles: (picked: Dropped) => void;
};

/** An empty folder does not exist: it is created with its first file, and this says so. */
export function FilesEmpty({ query, hasFiles, below = 0, canChange, onOpen, onClear, onAll, onFiles }: FilesEmptyProps) {
  const upload = useTranslations("files.upload");
  const pick = useFilePick({ isMany: true, onFiles: (files) => onFiles(filesOfInput(files)) });
  const t = useTranslations("files.empty");
  if (below > 0) return <EmptyState title={t("elsewhere")} action={<Button onClick={onAll}>{t("below", { count: below })}</Button>} />;
  if (hasFiles || query.name !== "") {
    return <EmptyState title={t("filtered")} action={<Button onClick={onClear}>{t("clear")}</Button>} />;
  }
  if (query.dir !== TOP) {
    const title = t("folder", { dir: query.dir });
    if (!canChange) return <EmptyState title={title} text={t("folderReadOnly")} />;
    return (
      <>
        <EmptyState title={title} text={t("folderText")} action={<Button onClick={pick.open}>{upload("files")}</Button>} />
        {pick.input}
      </>
    );
  }
  return (
    <EmptyState
      title={t("top")}
      text={t(canChange ? "topText" : "topReadOnly")}
      action={<Button onClick={() => onOpen(WORKFLOWS)}>{t("open", { dir: WORKFLOWS })}</Button>}
    />
  );
}
