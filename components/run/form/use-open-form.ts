import { type FocusEvent, useCallback, useEffect, useMemo, useState } from "react";
import { type Run, type RunApi, type RunContext } from "../run-actions";
import { useOpenCatalogue } from "../workflow/catalogue";
import { findGraphErrors, mergeErrors } from "../workflow/graph-errors";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import { useWorkflowMemory } from "../workflow/workflow-memory";
import { createValueChecker, findOutputNodes } from "./checks";
import { type PictureContext } from "./controls/picture-api";
import { createFormBuilder, focusProblem, type FormNode, getFieldDomId, isEditable, parseNodeHash } from "./form-model";
import { placeProblems } from "./problems";

/** The open workflow as a form: its fields, their problems, and their editing context. */
export function useOpenForm(run: Run, openWorkflow: OpenWorkflow, api: RunApi, { id, canRun }: RunContext) {
  const { state, setFileName, edit, setUploading } = run;
  const { serial, original, order, graph, ownNames, unsentPictures } = openWorkflow;
  const { info, isMissing: catalogueState, reloadCatalogue, listing } = useOpenCatalogue(id, serial);
  const buildForm = useMemo(() => createFormBuilder(original, order, info), [original, order, info]);
  const form = useMemo(() => buildForm(graph), [buildForm, graph]);
  // Links and classes can't be edited, so outputs and graph errors are those of the file.
  const outputs = useMemo(() => {
    const ids = new Set(findOutputNodes(original, info));
    return buildForm(original).flatMap(({ id: nodeId, title }) => (ids.has(nodeId) ? [{ id: nodeId, title }] : []));
  }, [buildForm, original, info]);
  const graphErrors = useMemo(() => findGraphErrors(original, info), [original, info]);
  const checkValues = useMemo(() => info && createValueChecker(original, findOutputNodes(original, info), info), [original, info]);
  const errors = useMemo(() => mergeErrors(checkValues?.(graph), state.errors), [checkValues, graph, state.errors]);
  const placedProblems = useMemo(() => placeProblems(form, mergeErrors(graphErrors?.errors, errors)), [form, graphErrors, errors]);
  const onNamed = useCallback((value: string, ownName: string) => setFileName(serial, value, ownName), [setFileName, serial]);
  const picture = useMemo<PictureContext>(
    () => ({
      connection: id,
      canSend: canRun,
      sendPicture: api.sendPicture,
      listAssets: api.listAssets,
      findStoredName: api.findStoredName,
      decode: api.decode,
      ownNames,
      unsent: unsentPictures,
      listing,
      onNamed,
    }),
    [id, canRun, api, ownNames, unsentPictures, listing, onNamed],
  );
  const onEdit = useCallback(
    (nodeId: string, name: string, value: unknown) => edit(serial, { nodeId, name, value }, info),
    [edit, serial, info],
  );
  const onRunning = useCallback(
    (nodeId: string, input: string, isRunning: boolean) => setUploading(serial, getFieldDomId(nodeId, input), isRunning),
    [setUploading, serial],
  );
  const settings = useWorkflowMemory(openWorkflow.workflowId);
  return {
    info,
    isMissing: catalogueState,
    readAgain: reloadCatalogue,
    form,
    outputs,
    faults: graphErrors,
    placedProblems,
    picture,
    settings,
    onNamed,
    onEdit,
    onRunning,
  };
}

/** Links the form and the drawing. The focused field's node is marked in the drawing, and selecting a node there focuses its first field. */
export function useFollowedNode(form: readonly FormNode[], onSelect: () => void) {
  const [nodeId, setNodeId] = useState<string>();
  const [focusRequest, setFocusRequest] = useState<{ nodeId: string }>();
  useEffect(() => {
    // Runs after the render that shows the form in place of the drawing.
    if (!focusRequest) return;
    const node = form.find(({ id }) => id === focusRequest.nodeId);
    const field = node?.fields.find(isEditable)?.name;
    focusProblem({ nodeId: focusRequest.nodeId, ...(field !== undefined && { field }) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a selection moves the focus once; later edits change the form and must not move it again
  }, [focusRequest]);
  // The URL's hash may name a node to focus. It doesn't apply to the next workflow.
  useEffect(() => {
    const { hash, pathname, search } = window.location;
    const nodeId = parseNodeHash(hash);
    if (nodeId === undefined) return;
    focusProblem({ nodeId });
    window.history.replaceState(null, "", pathname + search);
  }, []);
  const select = useCallback(
    (id: string) => {
      setNodeId(id);
      setFocusRequest({ nodeId: id });
      onSelect();
    },
    [onSelect],
  );
  const onFocus = useCallback(({ target }: FocusEvent) => {
    const id = target.closest("[data-node-id]")?.getAttribute("data-node-id");
    if (id) setNodeId(id);
  }, []);
  return { nodeId, select, onFocus };
}
