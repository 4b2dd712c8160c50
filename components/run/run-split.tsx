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
import { createPersistedValue } from "@/lib/browser/persisted-value";
import { formatErrorLine } from "@/lib/contract/views/job-view";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { hasErrors, type NodeProblems, type PlacedProblems } from "./form/problems";
import { type SubmittedJob } from "./submit/attempt";
import { useStartedJob } from "./submit/use-started-job";
import { type OpenWorkflow } from "./workflow/opened-workflow";

// The graph's width in percent, stored in this browser. Both sides keep their minimum width.
const widthLimits = { min: 25, max: 65, default: 46, step: 3 } as const;

function clampWidth(percent: number): number {
  return Math.min(widthLimits.max, Math.max(widthLimits.min, Math.round(percent)));
}

const storedWidth = createPersistedValue("lightdesk.run.split", (storedValue) =>
  typeof storedValue === "number" ? clampWidth(storedValue) : widthLimits.default,
);

/** At this width the drawing and the form fit side by side. */
const SIDE_BY_SIDE_QUERY = "(min-width: 1280px)";

/** By default, the drawing is shown if it fits next to the form. On narrower screens, it replaces the form on request. */
export function useDrawing(focusSerial: number) {
  const isWide = useMedia(SIDE_BY_SIDE_QUERY);
  const [graphVisibility, setGraphVisibility] = useState({ wide: true, narrow: false });
  const isGraphShown = isWide ? graphVisibility.wide : graphVisibility.narrow;
  const showForm = useCallback(() => setGraphVisibility((current) => ({ ...current, narrow: false })), []);
  const toggleGraph = () => setGraphVisibility({ ...graphVisibility, [isWide ? "wide" : "narrow"]: !isGraphShown });
  const [handledFocusSerial, setHandledFocusSerial] = useState(focusSerial);
  if (handledFocusSerial !== focusSerial) {
    setHandledFocusSerial(focusSerial);
    showForm();
  }
  return { isWide, isDrawn: isGraphShown, showForm, toggle: toggleGraph };
}

type RunSplitProps = {
  isWide: boolean;
  /** Shown next to the form on wide screens and instead of it on narrow ones. Undefined while hidden. */
  graph: ReactNode;
  /** Below both, no wider than the form. */
  footer: ReactNode;
  className?: string;
  children: ReactNode;
};

/** The drawing stays in view while the form scrolls. The divider between them is moved with the pointer or the arrow keys. */
export function RunSplit({ isWide, graph, footer, className, children }: RunSplitProps) {
  const t = useTranslations("run.split");
  const [percent, setPercent] = useState(() => (isWide ? storedWidth.get() : widthLimits.default));
  const isSideBySide = isWide && graph !== undefined;
  const footerStyle = { display: "contents", "--form-width": isSideBySide ? `calc((100% - 11px) * ${(100 - percent) / 100})` : "100%" };
  return (
    <>
      <div
        className={cn("flex-1", isSideBySide && "grid", className)}
        style={isSideBySide ? { gridTemplateColumns: `minmax(0, ${percent}fr) 11px minmax(0, ${100 - percent}fr)` } : undefined}
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
        {isSideBySide ? <Divider percent={percent} onResize={setPercent} /> : null}
        <section aria-label={t("form")} hidden={!isSideBySide && graph !== undefined} className="min-w-0">
          {children}
        </section>
      </div>
      <div style={footerStyle}>{footer}</div>
    </>
  );
}

function Divider({ percent, onResize }: { percent: number; onResize: (percent: number) => void }) {
  const t = useTranslations("run.split");
  const divider = useRef<HTMLDivElement>(null);
  function drag({ clientX }: PointerEvent) {
    const box = divider.current?.parentElement?.getBoundingClientRect();
    if (box && box.width > 0) onResize(clampWidth(((clientX - box.left) / box.width) * 100));
  }
  const widthByKey: Record<string, number> = {
    ArrowLeft: percent - widthLimits.step,
    ArrowRight: percent + widthLimits.step,
    Home: widthLimits.min,
    End: widthLimits.max,
  };
  function onKeyDown(event: KeyboardEvent) {
    const newWidth = widthByKey[event.key];
    if (newWidth === undefined) return;
    event.preventDefault();
    onResize(clampWidth(newWidth));
    storedWidth.set(clampWidth(newWidth));
  }
  return (
    <div
      ref={divider}
      role="separator"
      tabIndex={0}
      aria-label={t("divider")}
      aria-orientation="vertical"
      aria-valuemin={widthLimits.min}
      aria-valuemax={widthLimits.max}
      aria-valuenow={percent}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => (event.currentTarget.hasPointerCapture(event.pointerId) ? drag(event) : undefined)}
      onPointerUp={() => storedWidth.set(percent)}
      onDoubleClick={() => {
        onResize(widthLimits.default);
        storedWidth.set(widthLimits.default);
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
  catalogue: Parameters<typeof withCatalogueTitles>[1];
  placedProblems: PlacedProblems;
  /** The workflow's newest job. Its running nodes are marked, and a failed node until the next run. */
  submittedJob: SubmittedJob | undefined;
  connection: string | undefined;
  selected?: string;
  onSelect: (nodeId: string) => void;
};

/** The workflow's graph next to its form. Marks invalid nodes, the running job's nodes and the node that failed. Updates at low priority during typing. */
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
  const deferredGraph = useDeferredValue(graph);
  const titledGraph = useMemo(() => withCatalogueTitles(deferredGraph, catalogue), [deferredGraph, catalogue]);
  const { job, state } = useStartedJob(submittedJob, connection);
  const runningNode = state === "in_progress" ? (job?.progress?.currentNode ?? "") : undefined;
  const error = state === "failed" ? job?.error : undefined;
  const marks = useMemo<NodeMarks>(() => {
    const marks = runningNode === undefined ? new Map<string, NodeMark>() : getRunningMarks(deferredGraph, runningNode, job?.outputs);
    if (error?.nodeId !== undefined) marks.set(error.nodeId, { state: "failed", problems: [formatErrorLine(error)] });
    for (const [id, problems] of Object.entries(placedProblems.byNode)) if (hasErrors(problems)) marks.set(id, getMark(problems));
    return marks;
  }, [placedProblems, runningNode, error, deferredGraph, job?.outputs]);
  const json = useMemo(() => ({ prompt: deferredGraph, ...(extraData && { extra_data: extraData }) }), [deferredGraph, extraData]);
  return (
    <Graph
      graph={titledGraph}
      shape={original}
      drawing={getDrawing(extraData)}
      marks={marks}
      json={json}
      fileName={`${name}.json`}
      formSelection={{ onSelect, ...(selected !== undefined && { selected }) }}
      className="h-full"
    />
  );
}

/** If the workflow was opened from a failed job, the failed node shows the error. */
function getMark({ node }: NodeProblems): NodeMark {
  const errorMessages = node.filter(({ type }) => type === "execution_failed").map(({ message }) => message);
  return errorMessages.length > 0 ? { state: "failed", problems: errorMessages } : { state: "faulty" };
}

/**
 * Names the tab after its workflow. The browser shows the first title element in the head, so ours is moved to the front whenever the
 * page's own title changes.
 */
export function TabTitle({ name }: { name: string }) {
  const t = useTranslations("run");
  const product = useTranslations("frame")("product");
  const titleRef = useRef<HTMLTitleElement>(null);
  useEffect(() => {
    const moveToFront = () => {
      const firstTitle = document.head.querySelector("title");
      if (titleRef.current && firstTitle && firstTitle !== titleRef.current) firstTitle.before(titleRef.current);
    };
    moveToFront();
    const observer = new MutationObserver(moveToFront);
    observer.observe(document.head, { childList: true });
    return () => observer.disconnect();
  }, []);
  return <title ref={titleRef}>{`${name} · ${t("title")} · ${product}`}</title>;
}
