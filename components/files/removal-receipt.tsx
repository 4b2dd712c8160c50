import { useTranslations } from "next-intl";
import { WorkLine, WorkLines } from "@/components/data-table/bulk/work-line";
import { failureText } from "@/components/frame/failure/failure-text";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/cut";
import { ProgressBar } from "@/components/ui/progress-bar";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { type useFileRemoval } from "./use-file-removal";

type Removal = ReturnType<typeof useFileRemoval>;

/** The tool bar scrolls sideways on narrow screens, which would hide the receipt: there it is shown above the bottom bar. */
const NARROW =
  "max-sm:fixed max-sm:right-2 max-sm:bottom-[72px] max-sm:left-2 max-sm:z-30 max-sm:flex max-sm:*:shrink max-sm:*:flex-wrap max-sm:*:border max-sm:*:border-line-strong max-sm:*:bg-surface max-sm:*:px-2.5 max-sm:*:py-1.5 max-sm:*:shadow-lg";

export function RemovalReceipt({ removal }: { removal: Removal }) {
  return (
    <div data-lower-edge="" className={cn("contents empty:hidden", NARROW)}>
      <Receipt removal={removal} />
    </div>
  );
}

/** The progress, then the outcome. */
function Receipt({ removal }: { removal: Removal }) {
  const t = useTranslations("files.removal");
  const { state, stop, dismiss, again } = removal;
  if (state.kind === "removing") {
    const { done, count, isStopping, isWaiting } = state;
    return (
      <ReceiptLine tone="run" text={t(isStopping ? "stopping" : isWaiting ? "waiting" : "progress", { done, count })}>
        <ProgressBar value={done / Math.max(1, count)} label={t("progress", { done, count })} className="w-16" />
        <Button size="small" onClick={stop} disabled={isStopping}>
          {t("stop")}
        </Button>
      </ReceiptLine>
    );
  }
  if (state.kind !== "over") return null;
  const { removed, failed, left } = state.removal;
  const rest = [...failed.map(({ path }) => path), ...left];
  if (rest.length === 0) return <ReceiptLine tone="ok" text={t("done", { count: removed })} onDismiss={dismiss} />;
  return (
    <ReceiptLine
      tone={failed.length > 0 ? "bad" : "off"}
      text={t("some", { removed, failed: failed.length, left: left.length })}
      onDismiss={dismiss}
    >
      {state.isAbsent ? null : (
        <Button size="small" onClick={() => again(rest)}>
          {t("again", { count: rest.length })}
        </Button>
      )}
    </ReceiptLine>
  );
}

/** Deletions that can still be undone, each separately. */
export function PendingRemovals({ removal: { pending, undo } }: { removal: Removal }) {
  const t = useTranslations("files.removal");
  const common = useTranslations("common");
  if (pending.length === 0) return null;
  return (
    <WorkLines label={t("label")}>
      {pending.map(({ key, what }) => (
        <WorkLine key={key} tone="wait" text={t("undoable", { count: what.length })}>
          <Button size="small" onClick={() => undo(key)}>
            {common("undo")}
          </Button>
        </WorkLine>
      ))}
    </WorkLines>
  );
}

const SHOWN = 50;

/** Each refused file, with its reason. */
export function RefusedFiles({ removal: { state } }: { removal: Removal }) {
  const t = useTranslations("files.removal");
  const errors = useTranslations("errors");
  if (state.kind !== "over" || state.removal.failed.length === 0) return null;
  const { failed } = state.removal;
  return (
    <section aria-label={t("refused")} className="border-b border-line bg-surface px-4 py-2.5 md:px-5">
      <ul tabIndex={0} aria-label={t("refused")} className="max-h-40 overflow-y-auto">
        {failed.slice(0, SHOWN).map(({ path, failure }) => (
          <li key={path} className="flex min-h-7 flex-wrap items-center gap-x-3">
            <span title={path} className="min-w-0 truncate font-mono text-sm">
              <FileName name={path} />
            </span>
            <span className="text-bad">{failureText(errors, failure)}</span>
          </li>
        ))}
      </ul>
      {failed.length > SHOWN ? <p className="text-sm text-ink-3">{t("more", { count: failed.length - SHOWN })}</p> : null}
    </section>
  );
}
