import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useEscape } from "@/components/ui/hooks/page-keys";

/** The actions for the selected rows, inside a `LowerEdge`. Esc clears the selection. */
export function SelectionBar({ count, onClear, children }: { count: number; onClear: () => void; children: ReactNode }) {
  const t = useTranslations("common.selection");
  const isShown = count > 0;
  useEscape("selection", () => {
    if (isShown) onClear();
    return isShown;
  });
  if (!isShown) return null;
  return (
    <div
      role="region"
      aria-label={t("label")}
      className="flex w-fit items-center gap-x-3 gap-y-1 rounded-lg bg-ink px-3.5 py-2 text-bg shadow-xl max-sm:w-[calc(100%-16px)] max-sm:flex-wrap"
    >
      <b className="font-semibold whitespace-nowrap">{t("count", { count })}</b>
      <div className="contents max-sm:order-last max-sm:block max-sm:w-full">{children}</div>
      <button type="button" onClick={onClear} className="rounded-sm opacity-80 hover:opacity-100 max-sm:ml-auto">
        {t("letGo")}
      </button>
    </div>
  );
}

/** The style of a link in the bar. */
export const selectionItem = "rounded-sm whitespace-nowrap underline-offset-4 hover:underline";

export function SelectionButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" onClick={onClick} className={selectionItem}>
      {children}
    </button>
  );
}
