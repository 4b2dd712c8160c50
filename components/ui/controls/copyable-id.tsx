import { useTranslations } from "next-intl";
import { cn } from "../cn";
import { CopyButton } from "./copy-button";

type CopyableIdProps = {
  id: string;
  /** How many characters are shown; all of them where it is left out. */ shown?: number;
  className?: string;
};

/** A shortened id in monospace; hovering shows the whole id, and a click copies it. */
export function CopyableId({ id, shown, className }: CopyableIdProps) {
  const t = useTranslations("common");
  return (
    <span className={cn("inline-flex max-w-full items-center gap-0.5", className)}>
      <span title={id} className="truncate font-mono text-sm">
        {id.slice(0, shown)}
      </span>
      <CopyButton text={id} label={t("copy", { id })} />
    </span>
  );
}
