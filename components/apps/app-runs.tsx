import { Columns2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useRef, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { MAX_COMPARED, useViewing } from "@/components/viewer/use-viewing";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { useLive } from "@/lib/browser/live/use-live";
import { type AppField, type AppRun, type AppValues, type AppView } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { IDEMPOTENCY_HEADER } from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { ok, type Result } from "@/lib/shared/result";
import { createIdempotencyKey } from "@/lib/shared/text";
import { findDifferingInputs } from "./app-values";
import { useLoadMore } from "./apps-screen";
import { getAppApiPath } from "./apps-urls";
import { AppValueView, RunCard, type ShownResult, toShownResults } from "./run-card";

const Viewer = dynamic(() => import("@/components/viewer/viewer").then((module) => module.Viewer), { ssr: false });
const DifferenceTable = dynamic(() => import("@/components/viewer/input-differences").then((module) => module.DifferenceTable), {
  ssr: false,
});
const Compare = dynamic(() => import("@/components/viewer/compare").then((module) => module.Compare), { ssr: false });

export const RESULTS_ID = "results";

type AppRunsProps = { app: AppView; runs: ReturnType<typeof useAppRuns>; onReuse: (inputs: AppValues) => void };

/** The runs and their results, newest first. Results can be viewed, compared, downloaded and reused. */
export function AppRuns({ app, runs: { runs, live, moreButton }, onReuse }: AppRunsProps) {
  const t = useTranslations("apps.runs");
  const { inputs } = app;
  const [selectedIds, setSelectedIds] = useState<readonly string[]>([]);
  const [isComparing, setComparing] = useState(false);
  const pictures = runs.flatMap((run) => run.results.flatMap((result) => toShownResults(run, result)));
  const selectedPictures = selectedIds.flatMap((id) => pictures.find(({ item }) => item.id === id) ?? []);
  const viewerState = useViewing({
    indexOf: (id) => pictures.findIndex(({ item }) => item.id === id),
    getId: (index) => pictures[index]?.item.id,
  });
  const compareResults = (ids: readonly string[]) => {
    setSelectedIds(ids);
    setComparing(true);
  };
  const toggleSelection = (id: string) =>
    setSelectedIds(selectedIds.includes(id) ? selectedIds.filter((value) => value !== id) : [...selectedIds, id].slice(-MAX_COMPARED));
  return (
    // Fills the window on narrow screens, so that a new run can be scrolled to the top before its results arrive.
    <section
      id={RESULTS_ID}
      aria-label={t("title")}
      className="flex min-w-0 scroll-mt-[116px] flex-col gap-3.5 max-lg:min-h-[calc(100dvh-165px)]"
    >
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} /> : null}
      {selectedPictures.length > 0 ? (
        <div className="sticky top-[60px] z-10 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 shadow-sm">
          <span className="min-w-0 flex-1">{t("marked", { count: selectedPictures.length })}</span>
          <Button disabled={selectedPictures.length < 2} onClick={() => setComparing(true)}>
            <Columns2 aria-hidden="true" className="size-4" />
            {t("compare")}
          </Button>
          <Button tone="quiet" onClick={() => setSelectedIds([])}>
            {t("unmark")}
          </Button>
        </div>
      ) : null}
      {live.value === undefined && !live.failure ? <LoadingBlocks label={t("loading")} blocks={["h-[300px] rounded-lg"]} /> : null}
      {live.value && runs.length === 0 ? (
        <div className="rounded-lg border border-dashed border-control">
          <EmptyState title={t("none")} text={t("noneText")} />
        </div>
      ) : null}
      {runs.map((run, index) => (
        <RunCard
          key={run.id}
          app={app}
          run={run}
          previousRun={runs[index + 1]}
          selectedIds={selectedIds}
          onToggleSelection={toggleSelection}
          onOpen={(id) => viewerState.open(pictures.findIndex(({ item }) => item.id === id))}
          onReuse={onReuse}
          onChanged={live.refresh}
        />
      ))}
      {moreButton}
      {viewerState.at === undefined || isComparing ? null : (
        <Viewer
          count={pictures.length}
          index={viewerState.at}
          getItem={(index) => pictures[index]?.item}
          onMove={viewerState.move}
          onClose={viewerState.close}
          onCompare={compareResults}
        />
      )}
      {isComparing && selectedPictures.length > 1 ? (
        <Compare items={selectedPictures.map(({ item }) => item)} onClose={() => setComparing(false)}>
          <Differences
            app={app.id}
            inputs={findDifferingInputs(
              inputs,
              selectedPictures.map(({ run }) => run.inputs),
            )}
            results={selectedPictures}
          />
        </Compare>
      ) : null}
    </section>
  );
}

/** The inputs that differ between the runs of the compared pictures. */
function Differences({ app, inputs, results }: { app: string; inputs: readonly AppField[]; results: readonly ShownResult[] }) {
  const t = useTranslations("apps.runs");
  return (
    <section aria-label={t("differences")} className="max-h-[38dvh] shrink-0 overflow-auto border-t border-line px-4 py-3">
      {inputs.length === 0 ? (
        <p className="text-ink-2">{t("same")}</p>
      ) : (
        <DifferenceTable
          items={results.map(({ item }) => item)}
          caption={t("differences")}
          rows={inputs.map((input) => ({
            key: input.name,
            header: input.label,
            cells: results.map(({ run }) => <AppValueView key={run.id} app={app} input={input} value={getOwn(run.inputs, input.name)} />),
          }))}
        />
      )}
    </section>
  );
}

type RunsResponse = { runs: AppRun[]; next?: string };
type RunResponse = { run: AppRun };
type Attempt = { key: string; inputs: Record<string, unknown> };

const POLL_INTERVAL_MS = 1000;

const readResponse = (response: RunsResponse) => response;
const getRuns = ({ runs }: RunsResponse) => runs;

/** The member's own runs of an app. Runs are sent one after another under idempotency keys, so that a retry never starts a run twice. */
export function useAppRuns(app: string) {
  const path = getAppApiPath(app, "runs");
  const live = useLive(path, { read: readResponse });
  const { items: runs, button: moreButton } = useLoadMore(path, live.value, getRuns);
  const pendingAttempts = useRef<Attempt[]>([]);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();

  async function sendPending(): Promise<ApiFailure | undefined> {
    setSending(true);
    setFailure(undefined);
    let sendFailure: ApiFailure | undefined;
    for (let attempt = pendingAttempts.current[0]; attempt && !sendFailure; attempt = pendingAttempts.current[0]) {
      const { key, inputs } = attempt;
      const runResult = await callApi<RunResponse>(path, { method: "POST", json: { inputs }, headers: { [IDEMPOTENCY_HEADER]: key } });
      const result = runResult.ok ? await waitUntilSent(path, runResult.value) : runResult;
      if (!result.ok) sendFailure = result.failure;
      else if (result.value.run.state !== "refused") {
        pendingAttempts.current.shift();
        const { run } = result.value;
        live.patch((current) => ({ ...current, runs: [run, ...current.runs.filter(({ id }) => id !== run.id)] }));
      }
    }
    setFailure(sendFailure);
    await live.refresh();
    setSending(false);
    return sendFailure;
  }
  return {
    live,
    runs,
    moreButton,
    isSending,
    failure,
    send: (inputs: Record<string, unknown>, count: number) => {
      pendingAttempts.current = Array.from({ length: count }, () => ({ key: createIdempotencyKey(), inputs }));
      return sendPending();
    },
    /** Sends the unsent runs. A run with changed inputs gets a new key. */
    retry: (inputs: Record<string, unknown>) => {
      const inputsJson = writeExactJson(inputs);
      pendingAttempts.current = pendingAttempts.current.map((attempt) =>
        writeExactJson(attempt.inputs) === inputsJson ? attempt : { key: createIdempotencyKey(), inputs },
      );
      return sendPending();
    },
    clearPending() {
      pendingAttempts.current = [];
      setFailure(undefined);
    },
  };
}

/** Waits for an earlier request with the same key that may still be sending the run. If it was refused, the caller sends the run again. */
async function waitUntilSent(path: `/${string}`, runResult: RunResponse): Promise<Result<RunResponse, ApiFailure>> {
  let result: Result<RunResponse, ApiFailure> = ok(runResult);
  while (result.ok && result.value.run.state === "sending") {
    await sleep(POLL_INTERVAL_MS);
    result = await callApi<RunResponse>(`${path}/${result.value.run.id}`);
  }
  return result;
}
