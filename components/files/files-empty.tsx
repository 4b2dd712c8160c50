"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { TOP } from "@/lib/contract/userdata-paths";
import { type FilesQuery } from "./files-address";

const WORKFLOWS = "workflows/";

type FilesEmptyProps = {
  query: FilesQuery;
  hasFiles: boolean;
  canChange: boolean;
  onOpen: (dir: string) => void;
  onClear: () => void;
};

/** A folder that nothing is in is not there: it comes with its first file, and this says so. */
export function FilesEmpty({ query, hasFiles, canChange, onOpen, onClear }: FilesEmptyProps) {
  const t = useTranslations("files.empty");
  if (hasFiles || query.name !== "") {
    return <EmptyState title={t("filtered")} action={<Button onClick={onClear}>{t("clear")}</Button>} />;
  }
  if (query.dir !== TOP)
    return <EmptyState title={t("folder", { dir: query.dir })} text={t(canChange ? "folderText" : "folderReadOnly")} />;
  return (
    <EmptyState
      title={t("top")}
      text={t("topText")}
      action={<Button onClick={() => onOpen(WORKFLOWS)}>{t("open", { dir: WORKFLOWS })}</Button>}
    />
  );
}
