import { Columns2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { MAX_COMPARED, useViewing } from "@/components/viewer/use-viewing";
import { type AppField, type AppValues, type AppView } from "@/lib/contract/apps/app";
import { getOwn } from "@/lib/contract/json/json";
import { findDifferingInputs } from "./app-values";
import { AppValueView, RunCard, type ShownResult, toShownResults } from "./run-card";
import { type useAppRuns } from "./use-app-runs";

const Viewer = dynamic(() => import("@/components/viewer/viewer").then((module) => module.Viewer), { ssr: false });
const DifferenceTable = dynamic(() => import("@/components/viewer/input-differences").then((module) => module.DifferenceTable), {
  ssr: false,
});
const Compare = dynamic(() => import("@/components/viewer/compare").then((module) => module.Compare), { ssr: false });

export const RESULTS = "results";

type AppRunsProps = { app: AppView; runs: ReturnType<typeof useAppRuns>; onReuse: (inputs: AppValues) => void };

/** The runs and their results, newest first. Results can be viewed, compared, downloaded and reused. */
export function AppRuns({ app, runs: { runs, live, more }, onReuse }: AppRunsProps) {
  const t = useTranslations("apps.runs");
  const { inputs } = app;
  const [marked, setMarked] = useState<readonly string[]>([]);
  const [isComparing, setComparing] = useState(false);
  const pictures = runs.flatMap((run) => run.results.flatMap((result) => toShownResults(run, result)));
  const chosenPictures = marked.flatMap((id) => pictures.find(({ item }) => item.id === id) ?? []);
  const viewing = useViewing({
    indexOf: (id) => pictures.findIndex(({ item }) => item.id === id),
    getId: (index) => pictures[index]?.item.id,
  });
  const compare = (ids: readonly string[]) => {
    setMarked(ids);
    setComparing(true);
  };
  const mark = (id: string) =>
    setMarked(marked.includes(id) ? marked.filter((value) => value !== id) : [...marked, id].slice(-MAX_COMPARED));
  return (
    // At least as high as the window on narrow screens, so that a new run can be scrolled to the top before its results arrive.
    <section
      id={RESULTS}
      aria-label={t("title")}
      className="flex min-w-0 scroll-mt-[116px] flex-col gap-3.5 max-lg:min-h-[calc(100dvh-165px)]"
    >
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} /> : null}
      {chosenPictures.length > 0 ? (
        <div className="sticky top-[60px] z-10 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 shadow-sm">
          <span className="min-w-0 flex-1">{t("marked", { count: chosenPictures.length })}</span>
          <Button disabled={chosenPictures.length < 2} onClick={() => setComparing(true)}>
            <Columns2 aria-hidden="true" className="size-4" />
            {t("compare")}
          </Button>
          <Button tone="quiet" onClick={() => setMarked([])}>
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
          before={runs[index + 1]}
          marked={marked}
          onMark={mark}
          onOpen={(id) => viewing.open(pictures.findIndex(({ item }) => item.id === id))}
          onReuse={onReuse}
          onChanged={live.refresh}
        />
      ))}
      {more}
      {viewing.at === undefined || isComparing ? null : (
        <Viewer
          count={pictures.length}
          at={viewing.at}
          getItem={(index) => pictures[index]?.item}
          onMove={viewing.move}
          onClose={viewing.close}
          onCompare={compare}
        />
      )}
      {isComparing && chosenPictures.length > 1 ? (
        <Compare items={chosenPictures.map(({ item }) => item)} onClose={() => setComparing(false)}>
          <Differences
            app={app.id}
            inputs={findDifferingInputs(
              inputs,
              chosenPictures.map(({ run }) => run.inputs),
            )}
            chosen={chosenPictures}
          />
        </Compare>
      ) : null}
    </section>
  );
}

/** The inputs that differ between the runs of the compared pictures. */
function Differences({ app, inputs, chosen }: { app: string; inputs: readonly AppField[]; chosen: readonly ShownResult[] }) {
  const t = useTranslations("apps.runs");
  return (
    <section aria-label={t("differences")} className="max-h-[38dvh] shrink-0 overflow-auto border-t border-line px-4 py-3">
      {inputs.length === 0 ? (
        <p className="text-ink-2">{t("same")}</p>
      ) : (
        <DifferenceTable
          items={chosen.map(({ item }) => item)}
          caption={t("differences")}
          rows={inputs.map((input) => ({
            key: input.name,
            header: input.label,
            cells: chosen.map(({ run }) => <AppValueView key={run.id} app={app} input={input} value={getOwn(run.inputs, input.name)} />),
          }))}
        />
      )}
    </section>
  );
}
