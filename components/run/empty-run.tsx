import { FileJson2 } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useId, useState } from "react";
import { SampleCards } from "@/components/frame/samples/sample-cards";
import { pictureSamples, type SampleName, samples } from "@/components/frame/samples/samples";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { Textarea } from "@/components/ui/controls/textarea";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";

type EmptyRunProps = {
  connectionName?: string;
  isOver: boolean;
  note?: ReactNode;
  /** While pictures wait for a workflow, workflows that take a picture come first, and no other pictures are offered. */
  recent?: ReactNode;
  stored?: ReactNode;
  onFiles: (files: File[]) => void;
  onText: (text: string) => void;
  onSample: (name: SampleName) => Promise<void>;
  /** Absent for members who may not run. */
  onRunSample?: (name: SampleName) => Promise<void>;
};

const WORKFLOW_FILES = ".json,application/json,image/*,video/*,audio/*,.mkv,.flac,.opus,.glb";

/** Shown while no workflow is open: what the page is for, and every way to open one. */
export function EmptyRun({ connectionName, isOver, note, recent, stored, onFiles, onText, onSample, onRunSample }: EmptyRunProps) {
  const t = useTranslations("run.empty");
  const { input, open } = useFilePick({ accept: WORKFLOW_FILES, testId: "workflow-file", onFiles });
  const offered = (
    <section aria-labelledby="samples">
      <h2 id="samples" className="font-semibold">
        {t(recent ? "pictureSamples" : "samples")}
        <span className="ml-2 font-normal text-ink-3 max-sm:ml-0 max-sm:block">{t("samplesNote")}</span>
      </h2>
      <div className="mt-2.5">
        <SampleCards names={recent ? pictureSamples : samples} onOpen={onSample} onRun={recent ? undefined : onRunSample} />
      </div>
    </section>
  );
  return (
    <div className="mx-auto flex w-full max-w-[960px] flex-col gap-6 px-4 py-6 md:px-5">
      {note}
      {recent ? (
        <>
          {recent}
          {offered}
        </>
      ) : null}
      <div
        className={cn(
          "flex flex-col items-center gap-2 rounded-lg border border-dashed px-6 py-10 text-center",
          isOver ? "border-accent bg-accent-soft" : "border-control bg-surface",
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
      {recent ? null : offered}
      {stored}
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
