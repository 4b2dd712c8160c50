"use client";

import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { type Tone } from "@/components/ui/tone";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { MovingLine } from "./moving-line";
import { type WorkPhase } from "./use-bulk-work";
import { useKeepFromEscape } from "./use-keep-from-escape";
import { WorkLine } from "./work-line";

type Of<Phase, Kind> = Extract<Phase, { kind: Kind }>;

/** What a line about the work needs of it. */
type Work<Act, Item, Entry> = {
  phase: WorkPhase<Act, Item, Entry>;
  undo: () => void;
  stop: () => void;
  again: (isMeant: (entry: Entry) => boolean) => Promise<void>;
  dismiss: () => void;
};
type BulkProgressProps<Act, Item, Entry> = {
  /** Where its words are. */
  words: "jobs.bulk" | "assets.bulk";
  work: Work<Act, Item, Entry>;
  heldText: string | undefined;
  workingText: (phase: Of<WorkPhase<Act, Item, Entry>, "working">) => string;
  /** How often each outcome came, and how the most important one looks. */
  told: (entries: readonly Entry[]) => { text: string; tone: Tone };
  failureText: (failure: ApiFailure) => string;
  /** What came to nothing that may be tried once more. */
  isWorthAgain: (entry: Entry) => boolean;
  /** What else can be done about what was done. */
  actions?: (phase: Of<WorkPhase<Act, Item, Entry>, "done">) => ReactNode;
  receipt: (props: { isOpen: boolean; entries: readonly Entry[]; onClose: () => void }) => ReactNode;
  copies: (items: readonly Item[]) => { label: string; text: () => string }[];
  /** The person has read what was done. */
  onDismiss: () => void;
};

/** Where the bar of the selection was: what is held, how far it is, what became of it. */
export function BulkProgress<Act, Item, Entry>(props: BulkProgressProps<Act, Item, Entry>) {
  const { words, work, heldText, workingText, told, failureText, isWorthAgain, actions, receipt, copies, onDismiss } = props;
  const t = useTranslations(words);
  const common = useTranslations("common");
  const [isReading, setReading] = useState(false);
  const { phase } = work;
  useKeepFromEscape(heldText !== undefined || phase.kind === "walking" || phase.kind === "working");
  const label = t("label");
  const cut = (isCut: boolean) => (isCut ? ` · ${t("cut")}` : "");
  if (heldText !== undefined) {
    return (
      <WorkLine label={label} tone="wait" text={heldText}>
        <Button size="small" onClick={work.undo}>
          {common("undo")}
        </Button>
      </WorkLine>
    );
  }
  switch (phase.kind) {
    case "walking":
    case "working":
      return (
        <MovingLine
          label={label}
          text={phase.kind === "working" ? workingText(phase) : t("walking", { found: phase.found })}
          share={phase.kind === "working" ? (phase.total === 0 ? 1 : phase.done / phase.total) : undefined}
          waitMs={phase.waitMs}
          isStopping={phase.kind === "working" && phase.isStopping === true}
          onStop={work.stop}
          words={{
            progress: t("progress"),
            stop: t("stop"),
            stopping: t("stopping"),
            waiting: (seconds) => t("waiting", { seconds }),
          }}
        />
      );
    case "done": {
      const { text, tone } = told(phase.entries);
      const left = phase.entries.filter(isWorthAgain).length;
      const dismiss = () => {
        work.dismiss();
        onDismiss();
      };
      return (
        <>
          <WorkLine label={label} tone={tone} text={text + cut(phase.isCut)} onDismiss={dismiss}>
            {actions?.(phase)}
            {left > 0 ? (
              <Button size="small" onClick={() => void work.again(isWorthAgain)}>
                {t("again", { count: left })}
              </Button>
            ) : null}
            <Button size="small" onClick={() => setReading(true)}>
              {t("receipt.open")}
            </Button>
          </WorkLine>
          {receipt({ isOpen: isReading, entries: phase.entries, onClose: () => setReading(false) })}
        </>
      );
    }
    case "collected":
      return (
        <WorkLine label={label} tone="ok" text={t("collected", { count: phase.items.length }) + cut(phase.isCut)} onDismiss={work.dismiss}>
          {copies(phase.items).map((copy) => (
            <CopyButton key={copy.label} {...copy} className="size-6 text-inherit" />
          ))}
        </WorkLine>
      );
    case "broken":
      return <WorkLine label={label} tone="bad" text={failureText(phase.failure)} onDismiss={work.dismiss} />;
    case "idle":
      return null;
  }
}
