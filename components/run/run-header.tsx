import { CopyPlus, Download, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { SaveWorkflow } from "@/components/graph/save-workflow";
import { storedText } from "@/components/graph/stored-workflow";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { cn } from "@/components/ui/cn";
import { saveFile } from "@/lib/browser/save-file";
import { OpenAnother, type WaysIn } from "./open-another";
import { type Refusal } from "./workflow/refusal";
import { RunButton, type RunButtonProps } from "./submit/run-button";
import { type OpenWorkflow } from "./run-state";

type RunHeaderProps = {
  opened: OpenWorkflow;
  name: string;
  nodeCount: number;
  connection?: string;
  isDrawn: boolean;
  canRun: boolean;
  button: RunButtonProps;
  refusal?: Refusal;
  ways: WaysIn;
  onStop: () => void;
  onDrawn: () => void;
  onSaved: (path: string) => void;
  onClose: () => void;
  onCopies: () => void;
};

export function RunHeader(props: RunHeaderProps) {
  const { opened, name, nodeCount, connection, isDrawn, canRun, button, refusal, ways, onStop, onDrawn, onSaved, onClose, onCopies } =
    props;
  const t = useTranslations("run");
  return (
    <PageHeader
      trail={<span className="max-sm:hidden">{t("title")} /</span>}
      title={
        <span title={opened.stored} className="block max-w-[32ch] truncate max-sm:-ml-2.5 max-sm:max-w-[12ch]">
          {name}
        </span>
      }
      badge={
        <span className="text-ink-3 max-sm:hidden">
          {t("open.nodes", { count: nodeCount })}
          {opened.isEdited ? ` · ${t("open.edited")}` : null}
        </span>
      }
    >
      <Button aria-pressed={isDrawn} onClick={onDrawn} className="aria-pressed:bg-off-soft">
        {t("open.graph")}
      </Button>
      <OpenAnother serial={opened.serial} refusal={refusal} ways={ways} onStop={onStop} />
      {canRun ? (
        <SaveWorkflow
          isSmall
          tone="quiet"
          title={name}
          stored={opened.stored}
          onSaved={onSaved}
          connection={connection}
          textOf={() => storedText(opened.graph, opened.extraData)}
        />
      ) : (
        <Button
          tone="quiet"
          size="icon"
          aria-label={t("open.download")}
          title={t("open.download")}
          onClick={() => saveFile(`${name}.json`, new Blob([storedText(opened.graph, opened.extraData)], { type: "application/json" }))}
        >
          <Download aria-hidden="true" className="size-4" />
        </Button>
      )}
      <Button tone="quiet" size="icon" aria-label={t("open.close")} title={t("open.close")} onClick={onClose}>
        <X aria-hidden="true" className="size-4" />
      </Button>
      {canRun ? <CopiesButton button={button} onClick={onCopies} className="max-md:hidden" /> : null}
      <RunButton {...button} className="max-md:hidden" />
    </PageHeader>
  );
}

/** On narrow screens under the thumb. */
export function RunBar({ canRun, button, onCopies }: Pick<RunHeaderProps, "canRun" | "button" | "onCopies">) {
  return (
    <div className="sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 flex gap-2 border-t border-line bg-bg px-4 py-2 md:hidden">
      {canRun ? <CopiesButton button={button} onClick={onCopies} /> : null}
      <RunButton {...button} className="flex-1" />
    </div>
  );
}

type CopiesButtonProps = { button: RunButtonProps; onClick: () => void; className?: string };

/** What keeps one job from being sent keeps many from it too, and is said in the same place. */
function CopiesButton({ button: { refusedBy, isSending, uploading }, onClick, className }: CopiesButtonProps) {
  const t = useTranslations("run.copies");
  const face = (
    <>
      <CopyPlus aria-hidden="true" className="size-3.5" />
      {t("button")}
    </>
  );
  if (refusedBy !== undefined) {
    return (
      <button type="button" aria-disabled="true" aria-describedby={refusedBy} className={cn(buttonStyle(), className)}>
        {face}
      </button>
    );
  }
  return (
    <Button title={t("buttonHint")} busy={isSending || uploading > 0} onClick={onClick} className={className}>
      {face}
    </Button>
  );
}
