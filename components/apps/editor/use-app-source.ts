import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useMemo, useState, useSyncExternalStore } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { createRunApi } from "@/components/run/run-actions";
import { emptyRun, tabRun } from "@/components/run/run-store";
import { useDraft } from "@/components/run/use-run-page";
import { useCatalogue } from "@/components/run/workflow/catalogue";
import { type OpenedFile, type OpenWorkflow, type Refusal } from "@/components/run/workflow/opened-workflow";
import { openRunSource } from "@/components/run/workflow/run-sources";
import { readMemory } from "@/components/run/workflow/workflow-memory";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type AppAccess, type AppDefinition, type AppLimits, type AppView } from "@/lib/contract/apps/app";
import { type AppPin, createAppDraft, findOmittedInputs } from "@/lib/contract/apps/draft";
import { isEditorFile } from "@/lib/contract/editor-workflow/file";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { getDrawing, isNameless } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getAppApiPath } from "../apps-urls";

/** The edited app. `version`: the version of the existing app. */
export type Draft = { definition: AppDefinition; access: AppAccess; limits: AppLimits; version?: number };
export type EditorSource =
  | { kind: "loading" }
  | { kind: "nothing" }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "failed"; failure: ApiFailure; retry: () => void }
  /** `unsupported`: inputs of the editor's App mode that the form can't show. */
  | { kind: "ready"; draft: Draft; unsupported?: readonly string[]; app?: AppView; catalogue?: ObjectInfo };

/** A new app from a past job's workflow, or from the one open in Run, with its current values. */
export function useNewAppSource(memberId: string, job: string | undefined): EditorSource {
  const t = useTranslations();
  const connection = useConnection();
  const id = connection?.id;
  const { info: catalogue, isLoaded } = useCatalogue(id, id !== undefined);
  useDraft(tabRun, memberId);
  const { openWorkflow: runWorkflow } = useSyncExternalStore(tabRun.subscribe, tabRun.get, () => emptyRun);
  const [jobResult, setJobResult] = useState<{ file: OpenedFile } | { refusal: Refusal }>();
  const [hasLoaded, setLoaded] = useState(false);
  const loadJob = useEffectEvent(async () => {
    setLoaded(true);
    if (job === undefined || id === undefined) return;
    const runSourceResult = await openRunSource({ job }, createRunApi(connection));
    setJobResult(runSourceResult.ok ? { file: runSourceResult.value } : { refusal: runSourceResult.failure });
  });
  // Waits until a draft from before the reload is restored.
  useEffect(() => void Promise.resolve().then(() => loadJob()), [job, id]);
  const file = job === undefined ? runWorkflow : jobResult && "file" in jobResult ? jobResult.file : undefined;
  const fallbackName = t(job === undefined ? "run.pasted" : "apps.make.new");
  const newApp = useMemo(
    () => (file && isLoaded ? createDraft(file, fallbackName, catalogue) : undefined),
    [file, isLoaded, catalogue, fallbackName],
  );
  if (jobResult && "refusal" in jobResult) return { kind: "refused", refusal: jobResult.refusal };
  if (newApp) return { kind: "ready", ...newApp, ...(catalogue && { catalogue }) };
  return hasLoaded && job === undefined && !file ? { kind: "nothing" } : { kind: "loading" };
}

function createDraft(
  file: OpenedFile | OpenWorkflow,
  fallbackName: string,
  catalogue: ObjectInfo | undefined,
): { draft: Draft; unsupported: string[] } {
  const { graph, extraData, workflowId, name } = file;
  const storedDrawing = getDrawing(extraData);
  const drawing = isEditorFile(storedDrawing) ? storedDrawing : undefined;
  const pins = readMemory(workflowId).pinned.flatMap(parsePin);
  const definition = createAppDraft(
    {
      graph,
      title: name === "" || isNameless(name) ? fallbackName : name,
      ...(drawing && { editor: drawing }),
      ...(pins.length > 0 && { pins }),
    },
    catalogue,
  );
  const unsupported = drawing && pins.length === 0 ? findOmittedInputs(drawing, definition.inputs, catalogue) : [];
  return { draft: { definition, access: { kind: "me" }, limits: {} }, unsupported };
}

function parsePin(key: string): AppPin[] {
  const json = parseJson(key);
  const [node, input]: unknown[] = Array.isArray(json) ? json : [];
  return typeof node === "string" && typeof input === "string" ? [{ node, input }] : [];
}

type Workflow = AppDefinition & { version: number };
type LoadedApp = { view: AppView; workflow: Workflow };

const MAX_ATTEMPTS = 3;

/** Reads the app and its workflow. Retries if a save in between makes their versions differ. */
async function readApp(app: string, attempt = 1): Promise<Result<LoadedApp, ApiFailure>> {
  const [viewResult, workflowResult] = await Promise.all([
    callApi<{ app: AppView }>(getAppApiPath(app), { cache: "no-store" }),
    callApi<Workflow>(getAppApiPath(app, "workflow"), { cache: "no-store" }),
  ]);
  if (!viewResult.ok) return viewResult;
  if (!workflowResult.ok) return workflowResult;
  const [view, workflow] = [viewResult.value.app, workflowResult.value];
  if (view.version === workflow.version) return ok({ view, workflow });
  return attempt < MAX_ATTEMPTS ? readApp(app, attempt + 1) : failed({ code: "CONFLICT", message: "", status: 409 });
}

/** An existing app with its workflow, read once when opened and never while it is edited. */
export function useAppSource(app: string): EditorSource {
  const [loadResult, setLoadResult] = useState<Result<LoadedApp, ApiFailure>>();
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    let isUnmounted = false;
    void readApp(app).then((result) => (isUnmounted ? undefined : setLoadResult(result)));
    return () => {
      isUnmounted = true;
    };
  }, [app, attempts]);
  const data = loadResult?.ok ? loadResult.value : undefined;
  const { info: catalogue, isLoaded } = useCatalogue(data?.view.connectionId, data?.view.connectionId !== undefined);
  const draft = useMemo(() => {
    if (!data) return undefined;
    const { view, workflow } = data;
    const { access, chosen = { members: [], roles: [] }, limits } = view;
    const appAccess: AppAccess = access === "members" ? { kind: access, ...chosen } : { kind: access };
    const { version, ...definition } = workflow;
    return { definition, access: appAccess, limits, version };
  }, [data]);
  if (loadResult?.ok === false) return { kind: "failed", failure: loadResult.failure, retry: () => setAttempts((current) => current + 1) };
  return data && draft && isLoaded ? { kind: "ready", draft, app: data.view, ...(catalogue && { catalogue }) } : { kind: "loading" };
}
