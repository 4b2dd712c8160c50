import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type RefObject, useEffect, useRef } from "react";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copyable-id";
import { isFreeKey, useEscape, usePageKey } from "@/components/ui/hooks/page-keys";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { JobPanelBody } from "./job-panel-body";
import { JobPanelFrame } from "./job-panel-frame";

type JobPanelProps = {
  jobId: string;
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  canRun: boolean;
  onClose: () => void;
  /** Absent at the end of the list. */
  onNext?: () => void;
  onPrevious?: () => void;
};

/** Beside the list on wide screens, over it on narrow ones. The list keeps its place; on closing, the last shown job gets the focus. */
export function JobPanel({ jobId, connection, linked, canRun, onClose, onNext, onPrevious }: JobPanelProps) {
  const t = useTranslations("jobs.panel");
  const panel = useRef<HTMLElement>(null);
  const page = useRef<HTMLAnchorElement>(null);
  const shown = useRef(jobId);
  useEffect(() => {
    shown.current = jobId;
  }, [jobId]);
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    // Runs once the list is drawn without the panel, as a row that is drawn again would lose the focus.
    return () => {
      if (document.activeElement === document.body) focusRow(shown.current);
    };
  }, []);
  usePanelKeys(panel, { onClose, onNext, onPrevious });
  return (
    <JobPanelFrame ref={panel} tabIndex={-1} aria-label={t("label", { id: jobId.slice(0, 8) })}>
      <div className="mb-2.5 flex items-center gap-1">
        <h2 className="mr-auto min-w-0">
          <CopyableId id={jobId} shown={8} />
        </h2>
        <Link
          ref={page}
          href={withQuery(`/jobs/${encodeURIComponent(jobId)}`, { connection: linked })}
          className={buttonStyle({ tone: "quiet", size: "small" })}
        >
          {t("openPage")}
        </Link>
        <Button
          tone="quiet"
          size="icon"
          aria-label={t("previous")}
          title={`${t("previous")} (k)`}
          disabled={!onPrevious}
          onClick={onPrevious}
        >
          <ChevronLeft aria-hidden="true" className="size-4" />
        </Button>
        <Button tone="quiet" size="icon" aria-label={t("next")} title={`${t("next")} (j)`} disabled={!onNext} onClick={onNext}>
          <ChevronRight aria-hidden="true" className="size-4" />
        </Button>
        <Button tone="quiet" size="icon" aria-label={t("close")} title={`${t("close")} (Esc)`} onClick={onClose}>
          <X aria-hidden="true" className="size-4" />
        </Button>
      </div>
      <JobPanelBody
        key={jobId}
        jobId={jobId}
        connection={connection}
        linked={linked}
        canRun={canRun}
        onOpenPage={() => page.current?.click()}
      />
    </JobPanelFrame>
  );
}

function focusRow(id: string): void {
  const row = document.querySelector(`tr[data-row="${CSS.escape(id)}"]`);
  (row?.querySelector<HTMLElement>(".row-link") ?? row?.querySelector<HTMLElement>("a[href]"))?.focus();
}

type PanelKeys = { onClose: () => void; onNext?: () => void; onPrevious?: () => void };

/** Handled before the list's own keys: with a job open, j and k switch jobs. */
function usePanelKeys(panel: RefObject<HTMLElement | null>, { onClose, onNext, onPrevious }: PanelKeys): void {
  useEscape("panel", () => {
    onClose();
    return true;
  });
  const act = (event: KeyboardEvent): boolean => {
    if (!isFreeKey(event)) return false;
    // Up and down scroll the panel; left and right are free inside it.
    const isInside = panel.current?.contains(document.activeElement) ?? false;
    const step =
      event.key === "j" || (isInside && event.key === "ArrowRight")
        ? onNext
        : event.key === "k" || (isInside && event.key === "ArrowLeft")
          ? onPrevious
          : undefined;
    step?.();
    return step !== undefined || event.key === "j" || event.key === "k";
  };
  usePageKey(
    (event) => {
      if (event.defaultPrevented || document.querySelector("dialog[open]") || !act(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { isFirst: true },
  );
}
