import { useLocale, useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { chipStyle } from "@/components/ui/controls/chip";
import { SearchField } from "@/components/ui/controls/search-field";
import { formatBytes } from "@/lib/shared/format";
import { type FilesQuery } from "./files-address";

type FilesToolBarProps = {
  query: FilesQuery;
  /** The total size below the folder. */
  bytes: number | undefined;
  onChange: (change: Partial<FilesQuery>) => void;
  children?: ReactNode;
};

export function FilesToolBar({ query, bytes, onChange, children }: FilesToolBarProps) {
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
      {children}
    </ToolBar>
  );
}
