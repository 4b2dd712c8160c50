import { useCallback, useMemo } from "react";
import { outputNodes } from "./check";
import { faultsOf, mergedErrors } from "../workflow/faults";
import { fieldDomId } from "./field-ids";
import { formBuilder } from "./form-model";
import { placeProblems } from "./node-problems";
import { type PictureContext } from "./controls/picture-context";
import { type RunPorts } from "../run-ports";
import { type OpenWorkflow } from "../run-state";
import { type useRun } from "../use-run";
import { valueChecker } from "./values";
import { useWorkflowMemory } from "../workflow/use-workflow-memory";
import useSWR from "swr";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { lacksOperation } from "@/lib/contract/failure";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

export type RunPlace = { id?: string; isLocal?: boolean; canRun: boolean };

/** The opened workflow as its form: fields, what is wrong with them, and what each of them needs to be edited. */
export function useOpenForm(run: ReturnType<typeof useRun>, opened: OpenWorkflow, ports: RunPorts, { id, isLocal, canRun }: RunPlace) {
  const { state, dispatch } = run;
  const { serial, original, order, graph, ownNames, unsent } = opened;
  const { info, isMissing, readAgain } = useCatalogue(id, true);
  const build = useMemo(() => formBuilder(original, order, info), [original, order, info]);
  const form = useMemo(() => build(graph), [build, graph]);
  // Links and classes cannot be edited, so outputs and faults are those of the file.
  const outputs = useMemo(() => {
    const ids = new Set(outputNodes(original, info));
    return build(original).flatMap(({ id: nodeId, title }) => (ids.has(nodeId) ? [{ id: nodeId, title }] : []));
  }, [build, original, info]);
  const faults = useMemo(() => faultsOf(original, info), [original, info]);
  const check = useMemo(() => info && valueChecker(original, outputNodes(original, info), info), [original, info]);
  const wrong = useMemo(() => mergedErrors(check?.(graph), state.errors), [check, graph, state.errors]);
  const placed = useMemo(() => placeProblems(form, mergedErrors(faults?.errors, wrong)), [form, faults, wrong]);
  const onNamed = useCallback(
    (value: string, ownName: string) => dispatch({ type: "named", serial, value, name: ownName }),
    [dispatch, serial],
  );
  const picture = useMemo<PictureContext>(
    () => ({
      connection: id,
      isLocal: isLocal === true,
      canSend: canRun,
      sendPicture: ports.sendPicture,
      listAssets: ports.listAssets,
      storedName: ports.storedName,
      decode: ports.decode,
      ownNames,
      unsent,
      onNamed,
    }),
    [id, isLocal, canRun, ports, ownNames, unsent, onNamed],
  );
  const onEdit = useCallback(
    (nodeId: string, input: string, value: unknown) => dispatch({ type: "edited", serial, nodeId, name: input, value, catalogue: info }),
    [dispatch, serial, info],
  );
  const onRunning = useCallback(
    (nodeId: string, input: string, isRunning: boolean) => dispatch({ type: "upload", serial, key: fieldDomId(nodeId, input), isRunning }),
    [dispatch, serial],
  );
  const settings = useWorkflowMemory(opened.workflowId);
  return { info, isMissing, readAgain, form, outputs, faults, placed, picture, settings, onNamed, onEdit, onRunning };
}

type Catalogue = { info?: ObjectInfo; isMissing: "no" | "absent" | "failed"; readAgain: () => void };

/** The service's node catalogue, asked for once a workflow is open. It may be megabytes: read once per connection, never polled. */
function useCatalogue(connection: string | undefined, isWanted: boolean): Catalogue {
  const path = isWanted ? withQuery("/api/object_info", { connection }) : undefined;
  const { data, error, mutate } = useSWR<ObjectInfo, ApiFailure>(path, read, {
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    revalidateIfStale: false,
    shouldRetryOnError: false,
  });
  return { info: data, isMissing: data || !error ? "no" : lacksOperation(error) ? "absent" : "failed", readAgain: () => void mutate() };
}

async function read(path: `/${string}`): Promise<ObjectInfo> {
  const result = await callApi<ObjectInfo>(path);
  if (!result.ok) throw result.failure;
  return result.value;
}
