import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { getRunningMarks, type NodeMark, type NodeMarks, withCatalogueTitles } from "@/components/graph/node-search";
import { cn } from "@/components/ui/cn";
import { useMedia } from "@/components/ui/hooks/use-media";
import { Skeleton } from "@/components/ui/skeleton";
import { persisted } from "@/lib/browser/persisted";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { hasErrors, type NodeProblems, type PlacedProblems } from "./form/problems";
import { type SubmittedJob } from "./submit/attempt";
import { useStartedJob } from "./submit/use-started-job";
import { type OpenWorkflow } from "./workflow/opened-workflow";

// The graph's share of the width in percent, stored in this browser. Both sides keep their minimum width.
const shareLimits = { least: 25, max: 65, default: 46, step: 3 } as const;

function clampShare(share: number): number {
  return Math.min(shareLimits.max, Math.max(shareLimits.least, Math.round(share)));
}

const storedShare = persisted("lightdesk.run.split", (storedValue) =>
  typeof storedValue === "number" ? clampShare(storedValue) : shareLimits.default,
);

/** At this width the drawing and the form fit side by side. */
const SIDE_BY_SIDE_QUERY = "(min-width: 1280px)";

/** Whether the drawing is shown: by default if both fit side by side; otherwise it replaces the form on request. */
export function useDrawing(attention: number) {
  const isWide = useMedia(SIDE_BY_SIDE_QUERY);
  const [isGraphShown, setGraphShown] = useState({ wide: true, narrow: false });
  const isDrawn = isWide ? isGraphShown.wide : isGraphShown.narrow;
  const showForm = useCallback(() => setGraphShown((current) => ({ ...current, narrow: false })), []);
  const toggle = () => setGraphShown({ ...isGraphShown, [isWide ? "wide" : "narrow"]: !isDrawn });
  const [seenAttention, setSeenAttention] = useState(attention);
  if (seenAttention !== attention) {
    setSeenAttention(attention);
    showForm();
  }
  return { isWide, isDrawn, showForm, toggle };
}

type RunSplitProps = {
  isWide: boolean;
  /** Next to the form on wide screens, instead of it on narrow ones; undefined while hidden. */
  graph: ReactNode;
  /** Below both, no wider than the form. */
  foot: ReactNode;
  className?: string;
  children: ReactNode;
};

/** The drawing stays in view while the form scrolls; the divider between them moves by pointer and by arrow keys. */
export function RunSplit({ isWide, graph, foot, className, children }: RunSplitProps) {
  const t = useTranslations("run.split");
  const [share, setShare] = useState(() => (isWide ? storedShare.get() : shareLimits.default));
  const isSideBySide = isWide && graph !== undefined;
  const footStyle = { display: "contents", "--form-width": isSideBySide ? `calc((100% - 11px) * ${(100 - share) / 100})` : "100%" };
  return (
    <>
      <div
        className={cn("flex-1", isSideBySide && "grid", className)}
        style={isSideBySide ? { gridTemplateColumns: `minmax(0, ${share}fr) 11px minmax(0, ${100 - share}fr)` } : undefined}
      >
        {graph === undefined ? null : (
          <section
            aria-label={t("graph")}
            className={cn(
              "min-w-0",
              isSideBySide
                ? "sticky top-[52px] h-[calc(100*var(--dvh)-52px)] p-4 pr-0 pl-5"
                : "h-[calc(100*var(--dvh)-208px)] min-h-[340px] p-4 md:h-[calc(100*var(--dvh)-52px)]",
            )}
          >
            {graph}
          </section>
        )}
        {isSideBySide ? <Divider share={share} onShare={setShare} /> : null}
        <section aria-label={t("form")} hidden={!isSideBySide && graph !== undefined} className="min-w-0">
          {children}
        </section>
      </div>
      <div style={footStyle}>{foot}</div>
    </>
  );
}

function Divider({ share, onShare }: { share: number; onShare: (share: number) => void }) {
  const t = useTranslations("run.split");
  const bar = useRef<HTMLDivElement>(null);
  function drag({ clientX }: PointerEvent) {
    const box = bar.current?.parentElement?.getBoundingClientRect();
    if (box && box.width > 0) onShare(clampShare(((clientX - box.left) / box.width) * 100));
  }
  const moves: Record<string, number> = {
    ArrowLeft: share - shareLimits.step,
    ArrowRight: share + shareLimits.step,
    Home: shareLimits.least,
    End: shareLimits.max,
  };
  function onKeyDown(event: KeyboardEvent) {
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onShare(clampShare(to));
    storedShare.set(clampShare(to));
  }
  return (
    <div
      ref={bar}
      role="separator"
      tabIndex={0}
      aria-label={t("divider")}
      aria-orientation="vertical"
      aria-valuemin={shareLimits.least}
      aria-valuemax={shareLimits.max}
      aria-valuenow={share}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => (event.currentTarget.hasPointerCapture(event.pointerId) ? drag(event) : undefined)}
      onPointerUp={() => storedShare.set(share)}
      onDoubleClick={() => {
        onShare(shareLimits.default);
        storedShare.set(shareLimits.default);
      }}
      className="group sticky top-[52px] grid h-[calc(100*var(--dvh)-52px)] cursor-col-resize touch-none place-items-center"
    >
      <span aria-hidden="true" className="h-10 w-[3px] rounded-full bg-line-strong group-hover:bg-control" />
    </div>
  );
}

/** Loaded after the form, which does not need it. */
const Graph = dynamic(() => import("@/components/graph/workflow-graph").then((module) => module.WorkflowGraph), {
  ssr: false,
  loading: () => <Skeleton className="size-full rounded-lg" />,
});

type RunGraphProps = {
  openWorkflow: OpenWorkflow;
  name: string;
  catalogue: ObjectInfo | undefined;
  placedProblems: PlacedProblems;
  /** The newest job of this workflow. Its nodes are marked while it runs. */
  submittedJob: SubmittedJob | undefined;
  connection: string | undefined;
  selected?: string;
  onSelect: (nodeId: string) => void;
};

/** The workflow's graph next to its form. Marks invalid nodes and the running job's nodes. Follows typing at low priority. */
export function RunGraph({
  openWorkflow: { graph, original, extraData },
  name,
  catalogue,
  placedProblems,
  submittedJob,
  connection,
  selected,
  onSelect,
}: RunGraphProps) {
  const deferredValue = useDeferredValue(graph);
  const titled = useMemo(() => withCatalogueTitles(deferredValue, catalogue), [deferredValue, catalogue]);
  const { job, state } = useStartedJob(submittedJob, connection);
  const runningNode = state === "in_progress" ? (job?.progress?.currentNode ?? "") : undefined;
  const marks = useMemo<NodeMarks>(() => {
    const marks = runningNode === undefined ? new Map<string, NodeMark>() : getRunningMarks(deferredValue, runningNode, job?.outputs);
    for (const [id, problems] of Object.entries(placedProblems.byNode)) if (hasErrors(problems)) marks.set(id, getMark(problems));
    return marks;
  }, [placedProblems, runningNode, deferredValue, job?.outputs]);
  const json = useMemo(() => ({ prompt: deferredValue, ...(extraData && { extra_data: extraData }) }), [deferredValue, extraData]);
  return (
    <Graph
      graph={titled}
      shape={original}
      drawing={getDrawing(extraData)}
      marks={marks}
      json={json}
      fileName={`${name}.json`}
      aside={{ onSelect, ...(selected !== undefined && { selected }) }}
      className="h-full"
    />
  );
}

/** If the workflow was opened from a failed job, the failed node shows the error. */
function getMark({ node }: NodeProblems): NodeMark {
  const failures = node.filter(({ type }) => type === "execution_failed").map(({ message }) => message);
  return failures.length > 0 ? { state: "failed", problems: failures } : { state: "faulty" };
}

/**
 * Names the tab after its workflow. The browser shows the first title element in the head, so ours is moved before the page's own, which may
 * change at any time.
 */
export function TabTitle({ name }: { name: string }) {
  const t = useTranslations("run");
  const product = useTranslations("frame")("product");
  const titleRef = useRef<HTMLTitleElement>(null);
  useEffect(() => {
    const moveToFront = () => {
      const first = document.head.querySelector("title");
      if (titleRef.current && first && first !== titleRef.current) first.before(titleRef.current);
    };
    moveToFront();
    const titles = new MutationObserver(moveToFront);
    titles.observe(document.head, { childList: true });
    return () => titles.disconnect();
  }, []);
  return <title ref={titleRef}>{`${name} · ${t("title")} · ${product}`}</title>;
}
