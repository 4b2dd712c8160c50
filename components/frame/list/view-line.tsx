import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { type SavedView, type ViewScreen } from "@/lib/contract/saved-views";

/** Where a list keeps its words for its views. */
export type ViewWords = `${ViewScreen}.views`;

type ViewLineProps = {
  words: ViewWords;
  view: SavedView;
  href: string;
  isCurrent: boolean;
  onOpen: () => void;
  onDefault: () => void;
  onReplace: () => void;
  onRemove: () => void;
};

export function ViewLine({ words, view, href, isCurrent, onOpen, onDefault, onReplace, onRemove }: ViewLineProps) {
  const t = useTranslations(words);
  const { name } = view;
  return (
    <li className="flex items-center gap-1 py-0.5">
      <Link
        href={href}
        prefetch={false}
        onClick={onOpen}
        aria-current={isCurrent ? "true" : undefined}
        className="min-w-0 flex-1 truncate rounded-md px-1 py-1 text-ink hover:bg-sunken aria-[current]:font-semibold"
      >
        {name}
      </Link>
      {view.team ? <span className="text-sm text-ink-3">{t("team")}</span> : null}
      <Button
        tone="quiet"
        size="small"
        aria-pressed={view.isDefault}
        aria-label={t("default", { name })}
        title={t("default", { name })}
        onClick={onDefault}
      >
        {view.isDefault ? "★" : "☆"}
      </Button>
      {view.canChange ? (
        <>
          {isCurrent ? null : (
            <Button tone="quiet" size="small" aria-label={t("replace", { name })} onClick={onReplace}>
              {t("replaceShort")}
            </Button>
          )}
          <Button tone="quiet" size="small" aria-label={t("remove", { name })} onClick={onRemove}>
            ×
          </Button>
        </>
      ) : null}
    </li>
  );
}
