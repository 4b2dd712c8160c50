import { useCallback, useMemo, useRef, useState } from "react";
import useSWR from "swr";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { lacksOperation } from "@/lib/contract/failure";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type RunPorts } from "../run-ports";
import { type useRun } from "../use-run";
import { catalogueAddress, fetchCatalogue } from "../workflow/catalogue";
import { faultsOf, mergedErrors } from "../workflow/faults";
import { type OpenWorkflow } from "../workflow/opened";
import { useWorkflowMemory } from "../workflow/use-workflow-memory";
import { outputNodes } from "./check";
import { type PictureContext } from "./controls/picture-context";
import { fieldDomId } from "./field-ids";
import { formBuilder } from "./form-model";
import { placeProblems } from "./node-problems";
import { valueChecker } from "./values";

export type RunPlace = { id?: string; canRun: boolean };

/** The opened workflow as its form: the fields, their problems, and what is needed to edit each of them. */
export function useOpenForm(run: ReturnType<typeof useRun>, opened: OpenWorkflow, ports: RunPorts, { id, canRun }: RunPlace) {
  const { state, dispatch } = run;
  const { serial, original, order, graph, ownNames, unsent } = opened;
  const { info, isMissing, readAgain, listing } = useCatalogue(id, serial);
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
      canSend: canRun,
      sendPicture: ports.sendPicture,
      listAssets: ports.listAssets,
      storedName: ports.storedName,
      decode: ports.decode,
      ownNames,
      unsent,
      listing,
      onNamed,
    }),
    [id, canRun, ports, ownNames, unsent, listing, onNamed],
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

type Catalogue = {
  info?: ObjectInfo;
  isMissing: "no" | "absent" | "failed";
  readAgain: () => void;
  listing: NonNullable<PictureContext["listing"]>;
};

/**
 * The service's node catalogue, requested once a workflow is open. It may be megabytes: read once per connection, never polled, and again
 * for a workflow that uses files which the catalogue does not list.
 */
function useCatalogue(connection: string | undefined, serial: number): Catalogue {
  const path = catalogueAddress(connection);
  const { data, error, mutate } = useSWR<ObjectInfo, ApiFailure>(path, fetchCatalogue, {
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    revalidateIfStale: false,
    shouldRetryOnError: false,
  });
  const opening = `${serial} ${path}`;
  const [known, setKnown] = useState({ opening, isOld: data !== undefined });
  if (known.opening !== opening) setKnown({ opening, isOld: data !== undefined });
  const asked = useRef<string>(undefined);
  const listing = useMemo(
    () => ({
      isOld: known.isOld,
      readAgain: () => {
        // Every field with such a file calls this.
        if (asked.current === opening) return;
        asked.current = opening;
        mutate(fetchCatalogue(path), { revalidate: false }).then(
          () => setKnown((now) => (now.opening === opening ? { opening, isOld: false } : now)),
          // If the list could not be read again, nothing is known about the file.
          () => undefined,
        );
      },
    }),
    [known.isOld, opening, path, mutate],
  );
  return {
    info: data,
    isMissing: data || !error ? "no" : lacksOperation(error) ? "absent" : "failed",
    readAgain: () => void mutate(),
    listing,
  };
}
