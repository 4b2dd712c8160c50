import { AppWindow, CopyPlus, Download, Play, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { PageHeader } from "@/components/frame/page-header";
import { SaveWorkflow, toStoredText } from "@/components/graph/save-workflow";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle, IconButton } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { saveFile } from "@/lib/browser/files/save-file";
import { withQuery } from "@/lib/browser/urls";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type OpenActions, OpenWorkflowButton } from "./empty-run";
import { createEditorText, withEditorFile, type WriteEditorFile } from "./workflow/editor-file";
import { type OpenWorkflow, type Refusal } from "./workflow/opened-workflow";

type RunHeaderProps = {
  openWorkflow: OpenWorkflow;
  name: string;
  nodeCount: number;
  connection?: string;
  isGraphShown: boolean;
  canRun: boolean;
  runButton: RunButtonProps;
  info: ObjectInfo | undefined;
  writeEditorFile: WriteEditorFile | undefined;
  refusal?: Refusal;
  openActions: OpenActions;
  onStop: () => void;
  onToggleGraph: () => void;
  onSaved: (path: string) => void;
  onClose: () => void;
  onCopies: () => void;
};

export function RunHeader(props: RunHeaderProps) {
  const {
    openWorkflow,
    name,
    nodeCount,
    connection,
    isGraphShown,
    canRun,
    runButton,
    refusal,
    openActions,
    onStop,
    onToggleGraph,
    onSaved,
    onClose,
    onCopies,
  } = props;
  const t = useTranslations("run");
  const { writeEditorFile, info } = props;
  const isDefault = openWorkflow.rawTexts !== undefined;
  const editor = info && {
    isDefault,
    isOriginalFile: writeEditorFile !== undefined,
    write: () => createEditorText(openWorkflow, info, writeEditorFile),
  };
  const getGraphText = () => toStoredText(openWorkflow.graph, withEditorFile(openWorkflow.extraData, openWorkflow.graph, writeEditorFile));
  async function download() {
    const text = editor?.isDefault ? (await editor.write()).text : getGraphText();
    saveFile(`${name}.json`, new Blob([text], { type: "application/json" }));
  }
  const connectionParam = useConnectionParam();
  return (
    <PageHeader
      trail={<span className="max-sm:hidden">{t("title")} /</span>}
      title={
        <span title={openWorkflow.storedPath} className="block max-w-[32ch] truncate max-sm:max-w-[11ch]">
          {name}
        </span>
      }
      badge={
        <span className="text-ink-3 max-sm:hidden">
          {t("open.nodes", { count: nodeCount })}
          {openWorkflow.isEdited ? ` · ${t("open.edited")}` : null}
        </span>
      }
    >
      <Button aria-pressed={isGraphShown} onClick={onToggleGraph} className="aria-pressed:bg-off-soft">
        {t("open.graph")}
      </Button>
      <OpenWorkflowButton serial={openWorkflow.serial} refusal={refusal} openActions={openActions} onStop={onStop} />
      {canRun ? (
        <ButtonLink
          href={withQuery("/apps/new", { connection: connectionParam })}
          title={t("open.makeApp")}
          tone="quiet"
          className="max-2xl:size-[30px] max-2xl:p-0"
        >
          <AppWindow aria-hidden="true" className="size-4" />
          <span className="max-2xl:sr-only">{t("open.makeApp")}</span>
        </ButtonLink>
      ) : null}
      {canRun ? (
        <SaveWorkflow
          isSmall
          tone="quiet"
          title={name}
          currentPath={openWorkflow.storedPath}
          onSaved={onSaved}
          connection={connection}
          getText={getGraphText}
          editor={editor}
        />
      ) : (
        <IconButton icon={Download} label={t("open.download")} tone="quiet" onClick={() => void download()} />
      )}
      <IconButton icon={X} label={t("open.close")} tone="quiet" onClick={onClose} />
      {canRun ? <CopiesButton runButton={runButton} onClick={onCopies} className="max-md:hidden" /> : null}
      <RunButton {...runButton} className="max-md:hidden" />
    </PageHeader>
  );
}

/** The buttons at the bottom of narrow screens. */
export function RunBar({ canRun, runButton, onCopies }: Pick<RunHeaderProps, "canRun" | "runButton" | "onCopies">) {
  return (
    <div
      data-lower-edge=""
      className="sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 flex gap-2 border-t border-line bg-bg px-4 py-2 md:hidden"
    >
      {canRun ? <CopiesButton runButton={runButton} onClick={onCopies} /> : null}
      <RunButton {...runButton} className="flex-1" />
    </div>
  );
}

type CopiesButtonProps = { runButton: RunButtonProps; onClick: () => void; className?: string };

/** A problem that blocks a run also blocks copies, and the same text explains it. */
function CopiesButton({ runButton: { refusalId, isSending, uploading }, onClick, className }: CopiesButtonProps) {
  const t = useTranslations("run.copies");
  const content = (
    <>
      <CopyPlus aria-hidden="true" className="size-3.5" />
      {t("button")}
    </>
  );
  if (refusalId !== undefined) {
    return (
      <button type="button" aria-disabled="true" aria-describedby={refusalId} className={cn(buttonStyle(), className)}>
        {content}
      </button>
    );
  }
  return (
    <Button title={t("buttonHint")} busy={isSending || uploading > 0} onClick={onClick} className={className}>
      {content}
    </Button>
  );
}

type RunButtonProps = {
  isSending: boolean;
  uploading: number;
  /** The id of the element that explains why Run is disabled. Absent if it is enabled. */
  refusalId?: string;
  onRun: () => void;
  className?: string;
};

function RunButton({ isSending, uploading, refusalId, onRun, className }: RunButtonProps) {
  const t = useTranslations("run.run");
  const content = (
    <>
      <Play aria-hidden="true" className="size-3.5 fill-current" />
      {uploading > 0 ? t("waiting", { count: uploading }) : isSending ? t("sending") : t("button")}
    </>
  );
  if (refusalId !== undefined) {
    // The button stays focusable, so that screen readers announce the reason. Pressing it scrolls to the reason.
    return (
      <button
        type="button"
        aria-disabled="true"
        aria-describedby={refusalId}
        onClick={() => document.getElementById(refusalId)?.scrollIntoView?.({ block: "center" })}
        className={cn(buttonStyle({ tone: "primary" }), className)}
      >
        {content}
      </button>
    );
  }
  // Ignores the second click of a double click, which `detail` counts.
  return (
    <Button
      tone="primary"
      busy={isSending || uploading > 0}
      onClick={({ detail }) => (detail > 1 ? undefined : onRun())}
      title={t("hint")}
      className={className}
    >
      {content}
    </Button>
  );
}
