import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { StatusLine, StatusLines } from "./bottom-bar";
import { type BulkOperation, type OperationPhase } from "./use-bulk-operations";

type BulkNamespace = "acts" | "assets.bulk" | "files.removal";
type PhaseByKind<Phase, Kind> = Extract<Phase, { kind: Kind }>;

type BulkActions<Action, Item, Entry> = {
  operations: readonly BulkOperation<Action, Item, Entry>[];
  undo: (key: number) => void;
  stop: (key: number) => void;
  retry: (key: number, isIncluded: (entry: Entry) => boolean) => Promise<void>;
  dismiss: (key: number) => void;
};
type BulkPresentation<Action, Item, Entry extends { id: string }> = {
  namespace: BulkNamespace;
  getUndoableText: (phase: PhaseByKind<OperationPhase<Action, Item, Entry>, "undoable">) => string;
  /** Shown while the list is read to find the rows. */
  getReadingText?: (count: number) => string;
  getCollectedText?: (count: number) => string;
  getWorkingText: (phase: PhaseByKind<OperationPhase<Action, Item, Entry>, "working">) => string;
  /** Returns the count of each outcome, and the tone of the most important one. */
  summarize: (entries: readonly Entry[]) => { text: string; tone: Tone };
  /** Returns the reason for the first failure. */
  getCause?: (entries: readonly Entry[]) => string | undefined;
  getFailureText: (failure: ApiFailure) => string;
  /** Whether a failed entry can be retried. */
  isRetryable: (entry: Entry, action: Action) => boolean;
  /** Further actions on the results; `dismiss` removes their line. */
  renderResultActions?: (phase: PhaseByKind<OperationPhase<Action, Item, Entry>, "done">, dismiss: () => void) => ReactNode;
  entryAppearance: EntryAppearance<Entry>;
  getCopyOptions?: (items: readonly Item[]) => { label: string; text: () => string }[];
};
type BulkLinesProps<Action, Item, Entry extends { id: string }> = BulkPresentation<Action, Item, Entry> & {
  actions: BulkActions<Action, Item, Entry>;
};

/** One line per action, with its Undo button, progress or result. */
export function BulkLines<Action, Item, Entry extends { id: string }>(props: BulkLinesProps<Action, Item, Entry>) {
  const { operations } = props.actions;
  const label = useTranslations(props.namespace)("label");
  if (operations.length === 0) return null;
  return (
    <StatusLines label={label}>
      {operations.map((operation) => (
        <BulkLine key={operation.key} {...props} phase={operation.phase} id={operation.key} />
      ))}
    </StatusLines>
  );
}

type BulkLineProps<Action, Item, Entry extends { id: string }> = BulkLinesProps<Action, Item, Entry> & {
  id: number;
  phase: OperationPhase<Action, Item, Entry>;
};

function BulkLine<Action, Item, Entry extends { id: string }>({ id, phase, actions, ...presentation }: BulkLineProps<Action, Item, Entry>) {
  const t = useTranslations("common.bulk");
  const common = useTranslations("common");
  const [isResultOpen, setResultOpen] = useState(false);
  const getTruncationText = (isTruncated: boolean) => (isTruncated ? ` · ${t("cut")}` : "");
  const dismiss = () => actions.dismiss(id);
  switch (phase.kind) {
    case "undoable":
      return (
        <StatusLine tone="wait" text={presentation.getUndoableText(phase)}>
          <Button size="small" onClick={() => actions.undo(id)}>
            {common("undo")}
          </Button>
        </StatusLine>
      );
    case "walking":
    case "working":
      return (
        <ProgressLine
          text={phase.kind === "working" ? presentation.getWorkingText(phase) : (presentation.getReadingText?.(phase.foundCount) ?? "")}
          progress={phase.kind === "working" ? phase.doneCount / Math.max(1, phase.items.length) : undefined}
          waitMs={phase.waitMs}
          isStopping={phase.kind === "working" && phase.isStopping === true}
          onStop={() => actions.stop(id)}
        />
      );
    case "done": {
      const { text, tone } = presentation.summarize(phase.entries);
      const isRetryableEntry = (entry: Entry) => presentation.isRetryable(entry, phase.action);
      const retryableCount = phase.entries.filter(isRetryableEntry).length;
      const cause = presentation.getCause?.(phase.entries);
      return (
        <>
          <StatusLine tone={tone} text={text + getTruncationText(phase.isTruncated)} onDismiss={dismiss}>
            {cause ? <span className="max-w-prose text-ink-2">{cause}</span> : null}
            {presentation.renderResultActions?.(phase, dismiss)}
            {retryableCount > 0 ? (
              <Button size="small" onClick={() => void actions.retry(id, isRetryableEntry)}>
                {t("again", { count: retryableCount })}
              </Button>
            ) : null}
            <Button size="small" onClick={() => setResultOpen(true)}>
              {t("result.open")}
            </Button>
          </StatusLine>
          <ResultDialog
            {...presentation.entryAppearance}
            namespace={presentation.namespace}
            isOpen={isResultOpen}
            entries={phase.entries}
            onClose={() => setResultOpen(false)}
          />
        </>
      );
    }
    case "collected":
      return (
        <StatusLine
          tone="ok"
          text={(presentation.getCollectedText?.(phase.items.length) ?? "") + getTruncationText(phase.isTruncated)}
          onDismiss={dismiss}
        >
          {presentation.getCopyOptions?.(phase.items).map((copyOption) => (
            <CopyButton key={copyOption.label} {...copyOption} className="size-6 text-inherit" />
          ))}
        </StatusLine>
      );
    case "broken":
      return <StatusLine tone="bad" text={presentation.getFailureText(phase.failure)} onDismiss={dismiss} />;
  }
}

type ProgressLineProps = {
  text: string;
  /** The completed fraction, from 0 to 1. Absent if unknown. */
  progress?: number;
  waitMs?: number;
  isStopping: boolean;
  onStop: () => void;
};

/** A bulk action in progress. */
function ProgressLine({ text, progress, waitMs, isStopping, onStop }: ProgressLineProps) {
  const t = useTranslations("common.bulk");
  const waitText = waitMs === undefined ? "" : ` · ${t("waiting", { seconds: Math.ceil(waitMs / 1000) })}`;
  return (
    <StatusLine tone="run" text={text + waitText}>
      {progress === undefined ? null : <ProgressBar value={progress} label={t("progress")} />}
      <Button size="small" busy={isStopping} onClick={onStop}>
        {t(isStopping ? "stopping" : "stop")}
      </Button>
    </StatusLine>
  );
}

type EntryAppearance<Entry> = {
  getTone: (entry: Entry) => Tone;
  getText: (entry: Entry) => string;
  /** The display name, if more than the id is known. */
  getName: (entry: Entry) => string | undefined;
};
type ResultDialogProps<Entry extends { id: string }> = EntryAppearance<Entry> & {
  namespace: BulkNamespace;
  isOpen: boolean;
  entries: readonly Entry[];
  onClose: () => void;
};

/** The dialog shows at most this many entries. The copied text contains all of them. */
const MAX_SHOWN_ENTRIES = 500;

function ResultDialog<Entry extends { id: string }>({
  isOpen,
  entries,
  namespace,
  getTone,
  getText,
  getName,
  onClose,
}: ResultDialogProps<Entry>) {
  const t = useTranslations(`${namespace}.result`);
  const common = useTranslations("common.bulk.result");
  const formatEntries = () => entries.map((entry) => [entry.id, getName(entry) ?? "", getText(entry)].join("\t")).join("\n");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      className="w-[min(680px,calc(100vw-32px))]"
      title={t("title", { count: entries.length })}
      actions={
        <>
          {isOpen ? <CopyButton text={formatEntries()} label={common("copy")} className="mr-auto size-[30px]" /> : null}
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
            {entries.slice(0, MAX_SHOWN_ENTRIES).map((entry) => (
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
      {entries.length > MAX_SHOWN_ENTRIES ? <p className="mt-2">{common("more", { count: entries.length - MAX_SHOWN_ENTRIES })}</p> : null}
    </Dialog>
  );
}
