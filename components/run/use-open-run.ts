import { useCallback, useEffect, useEffectEvent, useId, useMemo, useState } from "react";
import { useRunKey } from "@/components/ui/hooks/page-events";
import { containsTime, type FilledText, type FillOptions, fillTexts, replaceTexts } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type CopiesRequest } from "./copies/copies-dialog";
import { EXTRA_FIELD } from "./form/advanced-card";
import { checkGraph } from "./form/checks";
import { focusProblem, type FormNode, newSeeds, withInputs } from "./form/form-model";
import { type useOpenForm } from "./form/use-open-form";
import { type Run } from "./run-actions";
import { type InEditorFile, useEditorFile } from "./workflow/editor-file";
import { missingClasses } from "./workflow/faults";
import { type OpenWorkflow } from "./workflow/opened-workflow";
import { readExtra } from "./workflow/workflow-contents";

type OpenForm = ReturnType<typeof useOpenForm>;
type OpenRunOptions = { run: Run; openWorkflow: OpenWorkflow; fields: OpenForm; name: string; canRun: boolean; showForm: () => void };

export type Sender = ReturnType<typeof useOpenRun>;

/** Checks and sends the open workflow: once, or as copies. */
export function useOpenRun({ run, openWorkflow, fields, name, canRun, showForm }: OpenRunOptions) {
  const { state } = run;
  const { serial, graph, advanced, original, extraData, rawTexts } = openWorkflow;
  const { info, form, faults, placedProblems, settings, onEdit } = fields;
  const missing = useMemo(() => missingClasses(original, info, extraData), [original, extraData, info]);
  const editorFile = useEditorFile(extraData, info);
  const inFile = editorFile?.withValues;
  const reasonId = useId();
  const [copiesRequest, setCopiesRequest] = useState<{ request?: CopiesRequest }>();
  const next = useNextSubmission({ graph, form, info, isRandomised: settings.isRandomised, rawTexts, inFile });

  /** False if something prevents a run; the page then shows the reason. */
  function isReady(isAnyway: boolean): boolean {
    if (!canRun || state.isSending || state.uploading.length > 0 || (faults && (faults.isSure || !isAnyway))) return false;
    if (advanced?.targets?.length === 0 || !readExtra(advanced?.extra ?? "").ok) {
      showForm();
      document.getElementById(EXTRA_FIELD)?.focus();
      return false;
    }
    const checked = checkGraph(graph, info);
    if (checked && (checked.isSure || !isAnyway)) run.reportProblems(serial, checked);
    return !checked || (!checked.isSure && isAnyway);
  }
  function send(isAnyway = false) {
    if (!isReady(isAnyway)) return;
    for (const seed of next.getSeeds()) onEdit(seed.nodeId, seed.name, seed.value);
    void run.run(name, (now) => replaceTexts(now, next.fill(now)), inFile);
    next.drawn(1);
  }
  function requestCopies(request?: CopiesRequest) {
    if (!isReady(false)) return;
    next.look();
    setCopiesRequest({ ...(request && { request }) });
  }
  const refusalId = !canRun || faults ? reasonId : undefined;
  const button = {
    isSending: state.isSending,
    uploading: state.uploading.length,
    ...(refusalId !== undefined && { refusalId }),
    onRun: () => send(),
  };
  useRunKey(button.onRun);
  const focusFirstProblem = useEffectEvent(() => {
    if (placedProblems.first) focusProblem(placedProblems.first);
  });
  useEffect(() => {
    if (state.attention > 0) focusFirstProblem();
  }, [state.attention]);
  return {
    fields,
    missing,
    editorFile,
    inFile,
    reasonId,
    next,
    send,
    button,
    copiesAsk: copiesRequest,
    askCopies: requestCopies,
    closeCopies: () => setCopiesRequest(undefined),
  };
}

const TICK_MS = 1_000;

/** A reload starts with another draw of texts and seeds. */
const randomDraw = () => Math.floor(Math.random() * 2 ** 31);

type Form = {
  graph: Graph;
  form: readonly FormNode[];
  info: ObjectInfo | undefined;
  isRandomised: (nodeId: string, name: string) => boolean;
  rawTexts?: readonly string[];
  /** The graph editor's file; filled-in texts refer to inputs by its node names. */
  inFile: InEditorFile | undefined;
};

const noRawTexts: readonly string[] = [];

function withoutRaw(texts: FilledText[], raw: readonly string[]): FilledText[] {
  return texts.filter(({ nodeId, name }) => !raw.includes(`${nodeId} ${name}`));
}

/** How the next run differs from the form. Decided before Run is clicked, so that the shown values are the ones sent. */
function useNextSubmission({ graph, form, info, isRandomised, rawTexts = noRawTexts, inFile }: Form) {
  const [draw, setDraw] = useState(randomDraw);
  const [shownTime, setShownTime] = useState(() => new Date());
  // Each copy gets its own seeds.
  const getSeeds = useCallback((copy = 0) => newSeeds(form, isRandomised, draw + copy), [form, isRandomised, draw]);
  const filledAt = useCallback(
    (now: Graph, filling: FillOptions) => {
      const widgetsOf = inFile && ((writtenGraph: Graph) => inFile(writtenGraph).widgetOf);
      return withoutRaw(fillTexts(now, info, filling, widgetsOf), rawTexts);
    },
    [info, rawTexts, inFile],
  );
  const fill = useCallback((now: Graph, copy = 0) => filledAt(now, { at: shownTime, draw: draw + copy }), [filledAt, shownTime, draw]);
  const seeds = useMemo(() => getSeeds(), [getSeeds]);
  const seeded = useMemo(() => withInputs(graph, seeds), [graph, seeds]);
  const filled = useMemo(() => fill(seeded), [fill, seeded]);
  const texts = useMemo<FilledText[]>(
    () => [...seeds.map(({ nodeId, name, value }) => ({ nodeId, name, text: String(value) })), ...filled],
    [seeds, filled],
  );
  const isTimed = containsTime(graph);
  const tick = useEffectEvent(() => {
    const now = new Date();
    const next = filledAt(seeded, { at: now, draw });
    if (next.some(({ text }, index) => text !== filled[index]?.text)) setShownTime(now);
  });
  useEffect(() => {
    if (!isTimed) return;
    const timer = setInterval(() => tick(), TICK_MS);
    return () => clearInterval(timer);
  }, [isTimed]);
  return {
    texts,
    getSeeds,
    fill,
    look: () => setShownTime(new Date()),
    /** Called after `count` jobs were sent: the next ones get new seeds and texts. */
    drawn: (count: number) => setDraw(draw + count),
  };
}
