import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { chipStyle } from "@/components/ui/controls/chip";
import { Input } from "@/components/ui/controls/input";
import { formatBytes } from "@/lib/shared/format";
import { type FilesQuery } from "./files-address";

const TYPING_MS = 300;

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
  const [name, setName] = useState(query.name);
  const [known, setKnown] = useState(query.name);
  // Back and links change the address: text typed for the previous one is dropped.
  if (known !== query.name) {
    setKnown(query.name);
    setName(query.name);
  }
  const send = useEffectEvent((typed: string) => {
    if (typed.trim() !== query.name) onChange({ name: typed.trim() });
  });
  useEffect(() => {
    const timer = setTimeout(() => send(name), TYPING_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return (
    <ToolBar label={t("filters")}>
      <Input
        type="search"
        aria-label={t("name")}
        placeholder={t("name")}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        className="w-52 shrink-0"
      />
      <button type="button" aria-pressed={query.all} onClick={() => onChange({ all: !query.all })} className={chipStyle(query.all)}>
        {t("all")}
      </button>
      {bytes === undefined ? null : <span className="shrink-0 text-ink-3">{t("size", { size: formatBytes(bytes, locale) })}</span>}
      {children}
    </ToolBar>
  );
}
