import { FileJson2, FolderOpen } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { SampleCards } from "@/components/frame/samples/sample-cards";
import { imageSamples, type SampleName, samples } from "@/components/frame/samples/samples";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { Textarea } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { Skeleton } from "@/components/ui/skeleton";
import { UploadProgress } from "./form/controls/media-control";
import { type Refusal } from "./workflow/opened-workflow";

type EmptyRunProps = {
  connectionName?: string;
  isDragOver: boolean;
  note?: ReactNode;
  /** Recent workflows with a picture input, shown while pictures wait for a workflow. */
  recent?: ReactNode;
  storedWorkflows?: ReactNode;
  onFiles: (files: File[]) => void;
  onText: (text: string) => void;
  onSample: (name: SampleName) => Promise<void>;
  /** Absent for members who may not run. */
  onRunSample?: (name: SampleName) => Promise<void>;
};

const WORKFLOW_FILE_TYPES = ".json,application/json,image/*,video/*,audio/*,.mkv,.flac,.opus,.glb";

/** Shown while no workflow is open: an introduction and all ways to open one. */
export function EmptyRun({
  connectionName,
  isDragOver,
  note,
  recent,
  storedWorkflows,
  onFiles,
  onText,
  onSample,
  onRunSample,
}: EmptyRunProps) {
  const t = useTranslations("run.empty");
  const { input, open } = useFilePicker({ accept: WORKFLOW_FILE_TYPES, testId: "workflow-file", onFiles });
  const sampleSection = (
    <section aria-labelledby="samples">
      <h2 id="samples" className="font-semibold">
        {t(recent ? "pictureSamples" : "samples")}
        <span className="ml-2 font-normal text-ink-3 max-sm:ml-0 max-sm:block">{t("samplesNote")}</span>
      </h2>
      <div className="mt-2.5">
        <SampleCards names={recent ? imageSamples : samples} onOpen={onSample} onRun={recent ? undefined : onRunSample} />
      </div>
    </section>
  );
  return (
    <div className="mx-auto flex w-full max-w-[960px] flex-col gap-6 px-4 py-6 md:px-5">
      {note}
      {recent ? (
        <>
          {recent}
          {sampleSection}
        </>
      ) : null}
      <div
        className={cn(
          "flex flex-col items-center gap-2 rounded-lg border border-dashed px-6 py-10 text-center",
          isDragOver ? "border-accent bg-accent-soft" : "border-control bg-surface",
        )}
      >
        <FileJson2 aria-hidden="true" className="mb-1 size-6 text-ink-3" strokeWidth={1.5} />
        <p className="text-lg font-semibold">{t("title")}</p>
        <p className="max-w-[52ch] text-ink-2">{t("text", { connection: connectionName ?? t("thisConnection") })}</p>
        <div className="mt-2 flex flex-wrap items-center justify-center gap-2.5">
          <Button tone="primary" onClick={open}>
            {t("pick")}
          </Button>
          {input}
          <span className="text-ink-3 max-sm:hidden">{t("keys")}</span>
        </div>
      </div>
      {recent ? null : sampleSection}
      {storedWorkflows}
      <PasteField onText={onText} />
    </div>
  );
}

function PasteField({ onText }: { onText: (text: string) => void }) {
  const t = useTranslations("run.empty");
  const [text, setText] = useState("");
  const id = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onText(text);
      }}
      className="flex flex-col items-start gap-2"
    >
      <label htmlFor={id} className="font-semibold">
        {t("pasteLabel")}
      </label>
      <Textarea
        id={id}
        rows={4}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
        placeholder={t("pastePlaceholder")}
        className="font-mono text-sm"
      />
      <Button type="submit" disabled={text.trim() === ""}>
        {t("pasteOpen")}
      </Button>
    </form>
  );
}

export type OpenActions = Omit<ComponentProps<typeof EmptyRun>, "note" | "recent">;

type OpenWorkflowButtonProps = {
  serial: number;
  refusal?: Refusal;
  openActions: OpenActions;
  onStop: () => void;
};

/** The sources of the empty page in a dialog, which closes once a workflow opens or is refused. */
export function OpenWorkflowButton({ serial, refusal, openActions, onStop }: OpenWorkflowButtonProps) {
  const t = useTranslations("run.open");
  const common = useTranslations("common");
  const [dialogState, setDialogState] = useState<{ serial: number; refusal?: Refusal }>();
  // Resets the dialog instead of hiding it, since it would reopen once the refusal is dismissed.
  if (dialogState && (dialogState.serial !== serial || dialogState.refusal !== refusal)) setDialogState(undefined);
  function cancel() {
    // The dialog also calls this when it closes because a workflow opened or was refused.
    if (!dialogState) return;
    setDialogState(undefined);
    onStop();
  }
  return (
    <>
      <Button title={t("another")} onClick={() => setDialogState({ serial, refusal })}>
        <FolderOpen aria-hidden="true" className="size-4 lg:hidden" />
        <span className="max-lg:sr-only">{t("another")}</span>
      </Button>
      <Dialog
        isOpen={dialogState !== undefined}
        onClose={cancel}
        title={t("anotherTitle")}
        className="w-[min(960px,calc(100vw-32px))]"
        actions={<Button onClick={cancel}>{common("cancel")}</Button>}
      >
        <EmptyRun {...openActions} />
      </Dialog>
    </>
  );
}

/** A placeholder shown while the first file loads. `picture`: the picture that is uploaded first. */
export function OpeningRun({ picture, onStop }: { picture?: { name: string; share: number }; onStop?: () => void }) {
  const t = useTranslations("run");
  return (
    <>
      <PageHeader title={t("title")} />
      {picture && onStop ? (
        <div className="border-b border-line bg-sunken px-4 py-2 md:px-5">
          <UploadProgress {...picture} onStop={onStop} />
        </div>
      ) : null}
      <div
        role="status"
        aria-label={useTranslations("common")("loading")}
        className="grid gap-3.5 px-4 py-4 md:px-5 xl:grid-cols-[46fr_54fr]"
      >
        <Skeleton className="h-[calc(100*var(--dvh)-84px)] rounded-lg max-xl:hidden" />
        <div className="flex flex-col gap-3.5">
          <Skeleton className="h-[210px] rounded-lg" />
          <Skeleton className="h-[150px] rounded-lg" />
          <Skeleton className="h-[150px] rounded-lg" />
        </div>
      </div>
    </>
  );
}
