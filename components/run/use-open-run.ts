import { useCallback, useEffect, useEffectEvent, useId, useMemo, useState } from "react";
import { useRunKey } from "@/components/ui/hooks/page-events";
import { containsTime, type FilledText, type FillOptions, fillTexts, replaceTexts } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type CopiesRequest } from "./copies/copies-dialog";
import { EXTRA_FIELD_ID } from "./form/advanced-card";
import { checkGraph } from "./form/checks";
import { drawSeedEdits, focusProblem, type FormNode, withInputs } from "./form/form-model";
import { type useOpenForm } from "./form/use-open-form";
import { type Run } from "./run-actions";
import { useEditorFile, type WriteEditorFile } from "./workflow/editor-file";
import { findMissingClasses } from "./workflow/graph-errors";
import { type OpenWorkflow } from "./workflow/opened-workflow";
import { parseExtraData } from "./workflow/workflow-contents";

type OpenForm = ReturnType<typeof useOpenForm>;
type OpenRunOptions = { run: Run; openWorkflow: OpenWorkflow; fields: OpenForm; name: string; canRun: boolean; showForm: () => void };

export type Sender = ReturnType<typeof useOpenRun>;

/** Checks and sends the open workflow: once, or as copies. */
export function useOpenRun({ run, openWorkflow, fields, name, canRun, showForm }: OpenRunOptions) {
  const { state } = run;
  const { serial, graph, advanced, original, extraData, rawTexts } = openWorkflow;
  const { info, form, faults, placedProblems, settings, onEdit } = fields;
  const missingClasses = useMemo(() => findMissingClasses(original, info, extraData), [original, extraData, info]);
  const editorFile = useEditorFile(extraData, info);
  const writeEditorFile = editorFile?.applyValues;
  const reasonId = useId();
  const [copiesRequest, setCopiesRequest] = useState<{ request?: CopiesRequest }>();
  const nextSubmission = useNextSubmission({ graph, form, info, isRandomised: settings.isRandomised, rawTexts, writeEditorFile });

  /** Returns false if something prevents a run. The page then shows the reason. */
  function isReady(isForced: boolean): boolean {
    if (!canRun || state.isSending || state.uploading.length > 0 || (faults && (faults.isSure || !isForced))) return false;
    if (advanced?.targets?.length === 0 || !parseExtraData(advanced?.extra ?? "").ok) {
      showForm();
      document.getElementById(EXTRA_FIELD_ID)?.focus();
      return false;
    }
    const checkResult = checkGraph(graph, info);
    if (checkResult && (checkResult.isSure || !isForced)) run.reportProblems(serial, checkResult);
    return !checkResult || (!checkResult.isSure && isForced);
  }
  function send(isForced = false) {
    if (!isReady(isForced)) return;
    for (const seed of nextSubmission.getSeeds()) onEdit(seed.nodeId, seed.name, seed.value);
    void run.run(name, (currentGraph) => replaceTexts(currentGraph, nextSubmission.fill(currentGraph)), writeEditorFile);
    nextSubmission.advanceDraw(1);
  }
  function requestCopies(request?: CopiesRequest) {
    if (!isReady(false)) return;
    nextSubmission.refreshTime();
    setCopiesRequest({ ...(request && { request }) });
  }
  const refusalId = !canRun || faults ? reasonId : undefined;
  const runButton = {
    isSending: state.isSending,
    uploading: state.uploading.length,
    ...(refusalId !== undefined && { refusalId }),
    onRun: () => send(),
  };
  useRunKey(runButton.onRun);
  const focusFirstProblem = useEffectEvent(() => {
    if (placedProblems.first) focusProblem(placedProblems.first);
  });
  useEffect(() => {
    if (state.focusSerial > 0) focusFirstProblem();
  }, [state.focusSerial]);
  return {
    fields,
    missing: missingClasses,
    editorFile,
    inFile: writeEditorFile,
    reasonId,
    next: nextSubmission,
    send,
    button: runButton,
    copiesRequest,
    requestCopies,
    closeCopies: () => setCopiesRequest(undefined),
  };
}

const TICK_MS = 1_000;

/** Random, so that a reload draws other texts and seeds. */
const createRandomDrawIndex = () => Math.floor(Math.random() * 2 ** 31);

type NextSubmissionOptions = {
  graph: Graph;
  form: readonly FormNode[];
  info: ObjectInfo | undefined;
  isRandomised: (nodeId: string, name: string) => boolean;
  rawTexts?: readonly string[];
  /** Filled-in texts refer to inputs by the node names in the editor's file. */
  writeEditorFile: WriteEditorFile | undefined;
};

const noRawTexts: readonly string[] = [];

function omitRawTexts(texts: FilledText[], rawTexts: readonly string[]): FilledText[] {
  return texts.filter(({ nodeId, name }) => !rawTexts.includes(`${nodeId} ${name}`));
}

/** How the next run differs from the form. Decided before Run is clicked, so that the shown values are the ones sent. */
function useNextSubmission({ graph, form, info, isRandomised, rawTexts = noRawTexts, writeEditorFile }: NextSubmissionOptions) {
  const [drawIndex, setDrawIndex] = useState(createRandomDrawIndex);
  const [shownTime, setShownTime] = useState(() => new Date());
  // Each copy gets its own seeds.
  const getSeeds = useCallback((copy = 0) => drawSeedEdits(form, isRandomised, drawIndex + copy), [form, isRandomised, drawIndex]);
  const fillTextsAt = useCallback(
    (currentGraph: Graph, options: FillOptions) => {
      const getWidgets = writeEditorFile && ((writtenGraph: Graph) => writeEditorFile(writtenGraph).findWidgetValue);
      return omitRawTexts(fillTexts(currentGraph, info, options, getWidgets), rawTexts);
    },
    [info, rawTexts, writeEditorFile],
  );
  const fill = useCallback(
    (currentGraph: Graph, copy = 0) => fillTextsAt(currentGraph, { at: shownTime, draw: drawIndex + copy }),
    [fillTextsAt, shownTime, drawIndex],
  );
  const seeds = useMemo(() => getSeeds(), [getSeeds]);
  const seededGraph = useMemo(() => withInputs(graph, seeds), [graph, seeds]);
  const filledTexts = useMemo(() => fill(seededGraph), [fill, seededGraph]);
  const texts = useMemo<FilledText[]>(
    () => [...seeds.map(({ nodeId, name, value }) => ({ nodeId, name, text: String(value) })), ...filledTexts],
    [seeds, filledTexts],
  );
  const hasTimeText = containsTime(graph);
  const updateShownTime = useEffectEvent(() => {
    const now = new Date();
    const nextTexts = fillTextsAt(seededGraph, { at: now, draw: drawIndex });
    if (nextTexts.some(({ text }, index) => text !== filledTexts[index]?.text)) setShownTime(now);
  });
  useEffect(() => {
    if (!hasTimeText) return;
    const timer = setInterval(() => updateShownTime(), TICK_MS);
    return () => clearInterval(timer);
  }, [hasTimeText]);
  return {
    texts,
    getSeeds,
    fill,
    refreshTime: () => setShownTime(new Date()),
    /** Called after `count` jobs were sent: the next ones get new seeds and texts. */
    advanceDraw: (count: number) => setDrawIndex(drawIndex + count),
  };
}
