import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useRef, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { ComparePictures } from "./compare-pictures";
import { InputDifferences } from "./input-differences";
import { ViewerDialog } from "./viewer-dialog";
import { type ReadWorkflow, type ViewerItem } from "./viewer-item";

type CompareProps = {
  items: readonly ViewerItem[];
  /** Absent if `children` show the differences. */
  readWorkflow?: ReadWorkflow;
  children?: ReactNode;
  onClose: () => void;
};

/** Two to four pictures that move together, side by side or, for two, stacked with a slider. Below, how their jobs' inputs differ. */
export function Compare({ items, readWorkflow, children, onClose }: CompareProps) {
  const t = useTranslations("viewer.comparing");
  const dialog = useRef<HTMLDialogElement>(null);
  const [isSlider, setSlider] = useState(false);
  return (
    <ViewerDialog dialog={dialog} label={t("label", { count: items.length })} onClose={onClose}>
      <div className="flex items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="min-w-0 flex-1 truncate font-medium">{t("label", { count: items.length })}</h2>
        {items.length === 2 ? (
          <Button aria-pressed={isSlider} tone={isSlider ? "primary" : "plain"} onClick={() => setSlider(!isSlider)}>
            {t("slider")}
          </Button>
        ) : null}
        <Button size="icon" aria-label={t("close")} title={t("close")} onClick={() => dialog.current?.close()}>
          <X aria-hidden="true" className="size-4" />
        </Button>
      </div>
      <ComparePictures items={items} isSlider={isSlider && items.length === 2} />
      {readWorkflow ? <InputDifferences items={items} readWorkflow={readWorkflow} /> : children}
    </ViewerDialog>
  );
}
