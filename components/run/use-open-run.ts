import { useEffect, useEffectEvent, useId, useMemo, useState } from "react";
import { useRunKey } from "@/components/ui/hooks/page-keys";
import { replaceTexts } from "@/lib/contract/nodes/fill-texts";
import { type CopiesRequest } from "./copies/copies-dialog";
import { EXTRA_FIELD } from "./form/advanced-card";
import { checkGraph } from "./form/checks";
import { focusProblem } from "./form/form-model";
import { type useOpenForm } from "./form/use-open-form";
import { type Run } from "./run-actions";
import { useNextSubmission } from "./submit/use-next-submission";
import { useEditorFile } from "./workflow/editor-file";
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
