import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type WorkOf, type WorkPhase } from "./use-bulk-work";
import { WorkLine, WorkLines } from "./work-line";

type BulkWords = "acts" | "assets.bulk" | "files.removal";
type PhaseOf<Phase, Kind> = Extract<Phase, { kind: Kind }>;

type BulkActions<Action, Item, Entry> = {
  works: readonly WorkOf<Action, Item, Entry>[];
  undo: (key: number) => void;
  stop: (key: number) => void;
  retry: (key: number, isIncluded: (entry: Entry) => boolean) => Promise<void>;
  dismiss: (key: number) => void;
};
type Words<Act, Item, Entry extends { id: string }> = {
  words: BulkWords;
  undoableText: (phase: PhaseOf<WorkPhase<Act, Item, Entry>, "undoable">) => string;
  /** Shown while the list is read to find the rows. */
  readingText?: (count: number) => string;
  collectedText?: (count: number) => string;
  workingText: (phase: PhaseOf<WorkPhase<Act, Item, Entry>, "working">) => string;
  /** The count of each outcome, and the tone of the most important one. */
  summarize: (entries: readonly Entry[]) => { text: string; tone: Tone };
  /** The reason of the first failure. */
  getCause?: (entries: readonly Entry[]) => string | undefined;
  failureText: (failure: ApiFailure) => string;
  /** Whether a failed entry can be retried. */
  isRetryable: (entry: Entry, action: Act) => boolean;
  /** Further actions on the results; `dismiss` removes their line. */
  resultActions?: (phase: PhaseOf<WorkPhase<Act, Item, Entry>, "done">, dismiss: () => void) => ReactNode;
  entryLook: EntryLook<Entry>;
  copies?: (items: readonly Item[]) => { label: string; text: () => string }[];
};
type BulkLinesProps<Act, Item, Entry extends { id: string }> = Words<Act, Item, Entry> & { actions: BulkActions<Act, Item, Entry> };

/** One line per action: Undo, progress, result. */
export function BulkLines<Act, Item, Entry extends { id: string }>(props: BulkLinesProps<Act, Item, Entry>) {
  const { works } = props.actions;
  const label = useTranslations(props.words)("label");
  if (works.length === 0) return null;
  return (
    <WorkLines label={label}>
      {works.map((work) => (
        <BulkLine key={work.key} {...props} phase={work.phase} id={work.key} />
      ))}
    </WorkLines>
  );
}

type BulkLineProps<Act, Item, Entry extends { id: string }> = BulkLinesProps<Act, Item, Entry> & {
  id: number;
  phase: WorkPhase<Act, Item, Entry>;
};

function BulkLine<Act, Item, Entry extends { id: string }>({ id, phase, actions, ...texts }: BulkLineProps<Act, Item, Entry>) {
  const t = useTranslations("common.bulk");
  const common = useTranslations("common");
  const [isReading, setReading] = useState(false);
  const cutText = (isCut: boolean) => (isCut ? ` · ${t("cut")}` : "");
  const dismiss = () => actions.dismiss(id);
  switch (phase.kind) {
    case "undoable":
      return (
        <WorkLine tone="wait" text={texts.undoableText(phase)}>
          <Button size="small" onClick={() => actions.undo(id)}>
            {common("undo")}
          </Button>
        </WorkLine>
      );
    case "walking":
    case "working":
      return (
        <ProgressLine
          text={phase.kind === "working" ? texts.workingText(phase) : (texts.readingText?.(phase.foundCount) ?? "")}
          share={phase.kind === "working" ? phase.doneCount / Math.max(1, phase.items.length) : undefined}
          waitMs={phase.waitMs}
          isStopping={phase.kind === "working" && phase.isStopping === true}
          onStop={() => actions.stop(id)}
        />
      );
    case "done": {
      const { text, tone } = texts.summarize(phase.entries);
      const isRetryableEntry = (entry: Entry) => texts.isRetryable(entry, phase.action);
      const retryableCount = phase.entries.filter(isRetryableEntry).length;
      const cause = texts.getCause?.(phase.entries);
      return (
        <>
          <WorkLine tone={tone} text={text + cutText(phase.isCut)} onDismiss={dismiss}>
            {cause ? <span className="max-w-prose text-ink-2">{cause}</span> : null}
            {texts.resultActions?.(phase, dismiss)}
            {retryableCount > 0 ? (
              <Button size="small" onClick={() => void actions.retry(id, isRetryableEntry)}>
                {t("again", { count: retryableCount })}
              </Button>
            ) : null}
            <Button size="small" onClick={() => setReading(true)}>
              {t("result.open")}
            </Button>
          </WorkLine>
          <ResultDialog
            {...texts.entryLook}
            words={texts.words}
            isOpen={isReading}
            entries={phase.entries}
            onClose={() => setReading(false)}
          />
        </>
      );
    }
    case "collected":
      return (
        <WorkLine tone="ok" text={(texts.collectedText?.(phase.items.length) ?? "") + cutText(phase.isCut)} onDismiss={dismiss}>
          {texts.copies?.(phase.items).map((copy) => (
            <CopyButton key={copy.label} {...copy} className="size-6 text-inherit" />
          ))}
        </WorkLine>
      );
    case "broken":
      return <WorkLine tone="bad" text={texts.failureText(phase.failure)} onDismiss={dismiss} />;
  }
}

type MovingLineProps = {
  text: string;
  /** The completed share, from 0 to 1; absent if unknown. */
  share?: number;
  waitMs?: number;
  isStopping: boolean;
  onStop: () => void;
};

/** A bulk action in progress. */
function ProgressLine({ text, share, waitMs, isStopping, onStop }: MovingLineProps) {
  const t = useTranslations("common.bulk");
  const wait = waitMs === undefined ? "" : ` · ${t("waiting", { seconds: Math.ceil(waitMs / 1000) })}`;
  return (
    <WorkLine tone="run" text={text + wait}>
      {share === undefined ? null : <ProgressBar value={share} label={t("progress")} />}
      <Button size="small" busy={isStopping} onClick={onStop}>
        {t(isStopping ? "stopping" : "stop")}
      </Button>
    </WorkLine>
  );
}

type EntryLook<Entry> = {
  getTone: (entry: Entry) => Tone;
  getText: (entry: Entry) => string;
  /** The display name, if more than the id is known. */
  getName: (entry: Entry) => string | undefined;
};
type ResultDialogProps<Entry extends { id: string }> = EntryLook<Entry> & {
  words: BulkWords;
  isOpen: boolean;
  entries: readonly Entry[];
  onClose: () => void;
};

/** Maximum shown lines; the copied text has all of them. */
const MAX_SHOWN = 500;

function ResultDialog<Entry extends { id: string }>({
  isOpen,
  entries,
  words,
  getTone,
  getText,
  getName,
  onClose,
}: ResultDialogProps<Entry>) {
  const t = useTranslations(`${words}.result`);
  const common = useTranslations("common.bulk.result");
  const asText = () => entries.map((entry) => [entry.id, getName(entry) ?? "", getText(entry)].join("\t")).join("\n");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      className="w-[min(680px,calc(100vw-32px))]"
      title={t("title", { count: entries.length })}
      actions={
        <>
          {isOpen ? <CopyButton text={asText()} label={common("copy")} className="mr-auto size-[30px]" /> : null}
          <Button onClick={onClose}>{common("close")}</Button>
        </>
      }
    >
      <div role="group" tabIndex={0} aria-label={t("table")} className="max-h-[50vh] overflow-y-auto">
        <table className="w-full text-left">
          <thead>
            <tr className="border-b border-line text-ink-3">
              <th scope="col" className="py-1 pr-3 font-normal">
                {t("thing")}
              </th>
              <th scope="col" className="py-1 font-normal">
                {common("happened")}
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, MAX_SHOWN).map((entry) => (
              <tr key={entry.id} className="border-b border-line align-top last:border-0">
                <td className="py-1.5 pr-3">
                  {getName(entry) ? <span className="block break-words text-ink">{getName(entry)}</span> : null}
                  <span className="font-mono text-sm break-all">{entry.id}</span>
                </td>
                <td className="py-1.5 text-ink">
                  <span className="flex items-start gap-1.5 break-words">
                    <ToneIcon tone={getTone(entry)} />
                    <span className="min-w-0">{getText(entry)}</span>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > MAX_SHOWN ? <p className="mt-2">{common("more", { count: entries.length - MAX_SHOWN })}</p> : null}
    </Dialog>
  );
}
