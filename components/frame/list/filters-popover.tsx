import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode, useId, useRef, useState } from "react";
import { Button, chipStyle } from "@/components/ui/controls/button";
import { useOnFirstInteraction } from "@/components/ui/hooks/page-events";

const loadPanel = () => import("./filters-panel");
const FiltersPanel = dynamic(() => loadPanel().then((module) => module.FiltersPanel), { ssr: false });

type FiltersPopoverProps = {
  count: number;
  children: ReactNode;
};

/** The less common filters of a list. The panel is rendered outside the bar, which would clip it. */
export function FiltersPopover({ count, children }: FiltersPopoverProps) {
  const t = useTranslations("common.filters");
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useOnFirstInteraction(loadPanel);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className={chipStyle(count > 0, "shrink-0")}
      >
        {count > 0 ? t("counted", { count }) : t("open")} <span aria-hidden="true">▾</span>
      </button>
      {isOpen ? (
        <FiltersPanel id={id} label={t("open")} button={button} onClose={close} onLeave={() => setOpen(false)}>
          {children}
        </FiltersPanel>
      ) : null}
    </>
  );
}

/** Shown while any filter of the list is set. */
export function ClearFilters({ isSet, onClear }: { isSet: boolean; onClear: () => void }) {
  const t = useTranslations("common.filters");
  if (!isSet) return null;
  return (
    <Button tone="quiet" size="small" className="shrink-0" onClick={onClear}>
      {t("clear")}
    </Button>
  );
}
