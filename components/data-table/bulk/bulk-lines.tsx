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

type Of<Phase, Kind> = Extract<Phase, { kind: Kind }>;

/** The part of the acts that the lines use. */
type Acts<Act, Item, Entry> = {
  works: readonly WorkOf<Act, Item, Entry>[];
  undo: (key: number) => void;
  stop: (key: number) => void;
  again: (key: number, isMeant: (entry: Entry) => boolean) => Promise<void>;
  dismiss: (key: number) => void;
};
type Words<Act, Item, Entry extends { id: string }> = {
  /** The namespace of its sentences. */
  words: "acts" | "assets.bulk";
  undoableText: (phase: Of<WorkPhase<Act, Item, Entry>, "undoable">) => string;
  workingText: (phase: Of<WorkPhase<Act, Item, Entry>, "working">) => string;
  /** How often each outcome occurred, and the tone of the most important one. */
  summaryOf: (entries: readonly Entry[]) => { text: string; tone: Tone };
  /** Why something was not done. */
  causeOf?: (entries: readonly Entry[]) => string | undefined;
  failureText: (failure: ApiFailure) => string;
  /** Whether a failed entry may be tried again. */
  isWorthAgain: (entry: Entry, act: Act) => boolean;
  /** Further actions on the results; `dismiss` removes their line. */
  actions?: (phase: Of<WorkPhase<Act, Item, Entry>, "done">, dismiss: () => void) => ReactNode;
  entryLook: EntryLook<Entry>;
  copies?: (items: readonly Item[]) => { label: string; text: () => string }[];
};
type BulkLinesProps<Act, Item, Entry extends { id: string }> = Words<Act, Item, Entry> & { acts: Acts<Act, Item, Entry> };

/** A line for each act: what can still be undone, the progress, the outcome. */
export function BulkLines<Act, Item, Entry extends { id: string }>(props: BulkLinesProps<Act, Item, Entry>) {
  const { works } = props.acts;
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

function BulkLine<Act, Item, Entry extends { id: string }>({ id, phase, acts, words, ...say }: BulkLineProps<Act, Item, Entry>) {
  const t = useTranslations(words);
  const common = useTranslations("common");
  const [isReading, setReading] = useState(false);
  const cut = (isCut: boolean) => (isCut ? ` · ${t("cut")}` : "");
  const dismiss = () => acts.dismiss(id);
  switch (phase.kind) {
    case "undoable":
      return (
        <WorkLine tone="wait" text={say.undoableText(phase)}>
          <Button size="small" onClick={() => acts.undo(id)}>
            {common("undo")}
          </Button>
        </WorkLine>
      );
    case "walking":
    case "working":
      return (
        <MovingLine
          text={phase.kind === "working" ? say.workingText(phase) : t("walking", { found: phase.found })}
          share={phase.kind === "working" ? phase.done / Math.max(1, phase.items.length) : undefined}
          waitMs={phase.waitMs}
          isStopping={phase.kind === "working" && phase.isStopping === true}
          onStop={() => acts.stop(id)}
          words={{
            progress: t("progress"),
            stop: t("stop"),
            stopping: t("stopping"),
            waiting: (seconds) => t("waiting", { seconds }),
          }}
        />
      );
    case "done": {
      const { text, tone } = say.summaryOf(phase.entries);
      const isWorthAgain = (entry: Entry) => say.isWorthAgain(entry, phase.act);
      const left = phase.entries.filter(isWorthAgain).length;
      const cause = say.causeOf?.(phase.entries);
      return (
        <>
          <WorkLine tone={tone} text={text + cut(phase.isCut)} onDismiss={dismiss}>
            {cause ? <span className="max-w-prose text-ink-2">{cause}</span> : null}
            {say.actions?.(phase, dismiss)}
            {left > 0 ? (
              <Button size="small" onClick={() => void acts.again(id, isWorthAgain)}>
                {t("again", { count: left })}
              </Button>
            ) : null}
            <Button size="small" onClick={() => setReading(true)}>
              {t("receipt.open")}
            </Button>
          </WorkLine>
          <ReceiptDialog {...say.entryLook} words={words} isOpen={isReading} entries={phase.entries} onClose={() => setReading(false)} />
        </>
      );
    }
    case "collected":
      return (
        <WorkLine tone="ok" text={t("collected", { count: phase.items.length }) + cut(phase.isCut)} onDismiss={dismiss}>
          {say.copies?.(phase.items).map((copy) => (
            <CopyButton key={copy.label} {...copy} className="size-6 text-inherit" />
          ))}
        </WorkLine>
      );
    case "broken":
      return <WorkLine tone="bad" text={say.failureText(phase.failure)} onDismiss={dismiss} />;
  }
}

type MovingLineProps = {
  text: string;
  /** The share that is done, from 0 to 1; absent where unknown. */
  share?: number;
  /** The service asked to wait this long. */
  waitMs?: number;
  isStopping: boolean;
  onStop: () => void;
  words: { progress: string; stop: string; stopping: string; waiting: (seconds: number) => string };
};

/** An act on many things, while it runs. */
function MovingLine({ text, share, waitMs, isStopping, onStop, words }: MovingLineProps) {
  const wait = waitMs === undefined ? "" : ` · ${words.waiting(Math.ceil(waitMs / 1000))}`;
  return (
    <WorkLine tone="run" text={text + wait}>
      {share === undefined ? null : <ProgressBar value={share} label={words.progress} />}
      <Button size="small" busy={isStopping} onClick={onStop}>
        {isStopping ? words.stopping : words.stop}
      </Button>
    </WorkLine>
  );
}

/** How an entry is displayed. */
type EntryLook<Entry> = {
  toneOf: (entry: Entry) => Tone;
  textOf: (entry: Entry) => string;
  /** The name that people use, if more than its id is known. */
  nameOf: (entry: Entry) => string | undefined;
};
type ReceiptDialogProps<Entry extends { id: string }> = EntryLook<Entry> & {
  /** The namespace of its sentences. */
  words: "acts" | "assets.bulk";
  isOpen: boolean;
  entries: readonly Entry[];
  onClose: () => void;
};

/** At most this many lines are shown; the copied text has them all. */
const SHOWN = 500;

/** The outcome of every single thing, to read and to copy. */
function ReceiptDialog<Entry extends { id: string }>({
  isOpen,
  entries,
  words,
  toneOf,
  textOf,
  nameOf,
  onClose,
}: ReceiptDialogProps<Entry>) {
  const t = useTranslations(`${words}.receipt`);
  const asText = () => entries.map((entry) => [entry.id, nameOf(entry) ?? "", textOf(entry)].join("\t")).join("\n");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      className="w-[min(680px,calc(100vw-32px))]"
      title={t("title", { count: entries.length })}
      actions={
        <>
          {isOpen ? <CopyButton text={asText()} label={t("copy")} className="mr-auto size-[30px]" /> : null}
          <Button onClick={onClose}>{t("close")}</Button>
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
                {t("happened")}
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, SHOWN).map((entry) => (
              <tr key={entry.id} className="border-b border-line align-top last:border-0">
                <td className="py-1.5 pr-3">
                  {nameOf(entry) ? <span className="block break-words text-ink">{nameOf(entry)}</span> : null}
                  <span className="font-mono text-sm break-all">{entry.id}</span>
                </td>
                <td className="py-1.5 text-ink">
                  <span className="flex items-start gap-1.5 break-words">
                    <ToneIcon tone={toneOf(entry)} />
                    <span className="min-w-0">{textOf(entry)}</span>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > SHOWN ? <p className="mt-2">{t("more", { count: entries.length - SHOWN })}</p> : null}
    </Dialog>
  );
}
