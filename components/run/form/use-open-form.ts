import { type FocusEvent, useCallback, useEffect, useMemo, useState } from "react";
import { type Run, type RunApi, type RunContext } from "../run-actions";
import { useOpenCatalogue } from "../workflow/catalogue";
import { findFaults, mergeErrors } from "../workflow/faults";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import { useWorkflowMemory } from "../workflow/workflow-memory";
import { outputNodes, valueChecker } from "./checks";
import { type PictureContext } from "./controls/picture-api";
import { fieldDomId, focusProblem, formBuilder, type FormNode, isEditable, parseNodeHash } from "./form-model";
import { placeProblems } from "./problems";

/** The open workflow as a form: its fields, their problems, and their editing context. */
export function useOpenForm(run: Run, openWorkflow: OpenWorkflow, api: RunApi, { id, canRun }: RunContext) {
  const { state, nameFile, edit, setUploading } = run;
  const { serial, original, order, graph, ownNames, unsentPictures } = openWorkflow;
  const { info, isMissing, readAgain, listing } = useOpenCatalogue(id, serial);
  const build = useMemo(() => formBuilder(original, order, info), [original, order, info]);
  const form = useMemo(() => build(graph), [build, graph]);
  // Links and classes cannot be edited, so outputs and faults are those of the file.
  const outputs = useMemo(() => {
    const ids = new Set(outputNodes(original, info));
    return build(original).flatMap(({ id: nodeId, title }) => (ids.has(nodeId) ? [{ id: nodeId, title }] : []));
  }, [build, original, info]);
  const faults = useMemo(() => findFaults(original, info), [original, info]);
  const check = useMemo(() => info && valueChecker(original, outputNodes(original, info), info), [original, info]);
  const errors = useMemo(() => mergeErrors(check?.(graph), state.errors), [check, graph, state.errors]);
  const placedProblems = useMemo(() => placeProblems(form, mergeErrors(faults?.errors, errors)), [form, faults, errors]);
  const onNamed = useCallback((value: string, ownName: string) => nameFile(serial, value, ownName), [nameFile, serial]);
  const picture = useMemo<PictureContext>(
    () => ({
      connection: id,
      canSend: canRun,
      sendPicture: api.sendPicture,
      listAssets: api.listAssets,
      storedName: api.storedName,
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
    (nodeId: string, input: string, isRunning: boolean) => setUploading(serial, fieldDomId(nodeId, input), isRunning),
    [setUploading, serial],
  );
  const settings = useWorkflowMemory(openWorkflow.workflowId);
  return { info, isMissing, readAgain, form, outputs, faults, placedProblems, picture, settings, onNamed, onEdit, onRunning };
}

/** Links form and drawing: the focused field's node is marked in the drawing, and selecting a node there focuses its first field. */
export function useFollowedNode(form: readonly FormNode[], onLead: () => void) {
  const [nodeId, setNodeId] = useState<string>();
  const [lead, setLead] = useState<{ nodeId: string }>();
  useEffect(() => {
    // Runs after the render that shows the form in place of the drawing.
    if (!lead) return;
    const node = form.find(({ id }) => id === lead.nodeId);
    const field = node?.fields.find(isEditable)?.name;
    focusProblem({ nodeId: lead.nodeId, ...(field !== undefined && { field }) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a press leads once; what is typed afterwards changes the form and must not lead again
  }, [lead]);
  // The page's address may name the node that a link is about; it does not apply to the next workflow.
  useEffect(() => {
    const { hash, pathname, search } = window.location;
    const nodeId = parseNodeHash(hash);
    if (nodeId === undefined) return;
    focusProblem({ nodeId: nodeId });
    window.history.replaceState(null, "", pathname + search);
  }, []);
  const select = useCallback(
    (id: string) => {
      setNodeId(id);
      setLead({ nodeId: id });
      onLead();
    },
    [onLead],
  );
  const onFocus = useCallback(({ target }: FocusEvent) => {
    const id = target.closest("[data-node-id]")?.getAttribute("data-node-id");
    if (id) setNodeId(id);
  }, []);
  return { nodeId, select, onFocus };
}
