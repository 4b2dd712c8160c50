import { Download } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { ProgressBar } from "@/components/ui/skeleton";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { OutputMedia } from "@/components/viewer/output-media";
import { type ViewerItem } from "@/components/viewer/use-viewing";
import { callApi } from "@/lib/browser/api";
import { apiPath, toJobHref } from "@/lib/browser/urls";
import { type AppField, type AppResult, type AppRun, type AppRunState, type AppValues, type AppView } from "@/lib/contract/apps/app";
import { getOwn } from "@/lib/contract/json/json";
import { truncateText } from "@/lib/contract/plain-line";
import { getAppFileUrl } from "./app-files";
import { findDifferingInputs } from "./app-values";
import { getAppApiPath } from "./apps-urls";
import { RunError } from "./run-problems";

const stateTones: Readonly<Record<AppRunState, Tone>> = {
  sending: "wait",
  unsent: "bad",
  refused: "bad",
  unknown: "unknown",
  pending: "wait",
  in_progress: "run",
  completed: "ok",
  failed: "bad",
  cancelled: "off",
};

export type ShownResult = { run: AppRun; result: AppResult; item: ViewerItem };

export function toShownResults(run: AppRun, result: AppResult): ShownResult[] {
  const { path, kind, number, name, label } = result;
  if (kind !== "image" || path === undefined) return [];
  const src = toResultUrl(path);
  return [
    {
      run,
      result,
      item: { id: `${run.id}-${number}`, name, kind, src, poster: `${src}${path.includes("?") ? "&" : "?"}edge=512`, note: label },
    },
  ];
}

function toResultUrl(path: string): string {
  return apiPath(`/${path.replace(/^\/+/, "")}`);
}

type RunCardProps = {
  app: AppView;
  run: AppRun;
  previousRun: AppRun | undefined;
  selectedIds: readonly string[];
  onToggleSelection: (id: string) => void;
  onOpen: (id: string) => void;
  onReuse: (inputs: AppValues) => void;
  onChanged: () => Promise<void>;
};

export function RunCard({ app, run, previousRun, selectedIds, onToggleSelection, onOpen, onReuse, onChanged }: RunCardProps) {
  const t = useTranslations("apps.runs");
  const tErrors = useTranslations("errors");
  const [isCancelling, setCancelling] = useState(false);
  const { id, state, createdAt, results, progress, step, jobId, inputs } = run;
  const pictures = results.flatMap((result) => toShownResults(run, result));
  const otherResults = results.filter((result) => toShownResults(run, result).length === 0);
  async function cancel() {
    setCancelling(true);
    const result = await callApi(getAppApiPath(app.id, "runs", id, "cancel"), { method: "POST" });
    if (!result.ok) showToast({ tone: "bad", text: formatFailure(tErrors, result.failure) });
    await onChanged();
    setCancelling(false);
  }
  return (
    <article data-run={id} aria-label={t(`state.${state}`)} className="min-w-0 rounded-lg border border-line bg-surface">
      <div className="flex min-h-[44px] flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3 py-1.5">
        <span role="status">
          <StatusBadge tone={stateTones[state]} label={t(`state.${state}`)} />
        </span>
        {state === "in_progress" && progress !== undefined ? <Progress value={progress} step={step} /> : null}
        <RelativeTime ms={createdAt} className="text-sm text-ink-3" />
        <span className="ml-auto flex flex-wrap items-center gap-2">
          {state === "pending" || state === "in_progress" ? (
            <Button size="small" tone="danger" busy={isCancelling} onClick={() => void cancel()}>
              {t("cancel")}
            </Button>
          ) : null}
          {jobId === undefined ? null : (
            <ButtonLink href={toJobHref(jobId, app.connectionId)} size="small" tone="quiet">
              {t("openJob")}
            </ButtonLink>
          )}
          <Button size="small" onClick={() => onReuse(inputs)}>
            {t("reuse")}
          </Button>
        </span>
      </div>
      <div className="flex flex-col gap-3 p-3">
        <RunError app={app} run={run} />
        {pictures.length > 0 ? (
          <ul
            className={cn(
              "grid gap-3",
              pictures.length === 1 ? "max-w-[560px]" : "grid-cols-[repeat(auto-fill,minmax(min(220px,100%),1fr))]",
            )}
          >
            {pictures.map(({ item }) => (
              <li key={item.id} className="min-w-0">
                <button type="button" onClick={() => onOpen(item.id)} className="block w-full rounded-sm">
                  <Picture
                    src={item.poster}
                    alt={t("open", { name: item.note || item.name })}
                    width={512}
                    height={384}
                    fit="contain"
                    className="aspect-[4/3] h-auto w-full"
                  />
                </button>
                <span className="mt-1 flex items-center gap-2">
                  <span className="min-w-0 flex-1 truncate text-ink-2">{item.note}</span>
                  <Button
                    size="small"
                    tone="quiet"
                    aria-pressed={selectedIds.includes(item.id)}
                    className="aria-pressed:bg-off-soft aria-pressed:text-ink"
                    onClick={() => onToggleSelection(item.id)}
                  >
                    {t("mark")}
                  </Button>
                  <a
                    href={item.src}
                    download={item.name}
                    aria-label={t("download", { name: item.name })}
                    title={t("download", { name: item.name })}
                    className={buttonStyle({ size: "small-icon" })}
                  >
                    <Download aria-hidden="true" className="size-4" />
                  </a>
                </span>
              </li>
            ))}
          </ul>
        ) : null}
        {otherResults.length > 0 ? (
          <ul className="flex flex-col gap-3">
            {otherResults.map(({ number, kind, name, label, path, text }) => (
              <OutputMedia
                key={number}
                view={{
                  nodeId: "",
                  key: "",
                  index: number,
                  kind,
                  name,
                  ...(text !== undefined && { text }),
                  animated: false,
                  temporary: false,
                }}
                node={label}
                {...(path !== undefined && { url: toResultUrl(path) })}
              />
            ))}
          </ul>
        ) : null}
        {state === "completed" && results.length === 0 ? <p className="text-ink-2">{t("noResults")}</p> : null}
        <RunInputs app={app.id} inputs={app.inputs} run={run} previousRun={previousRun} />
      </div>
    </article>
  );
}

function Progress({ value, step }: { value: number; step: AppRun["step"] }) {
  const t = useTranslations("apps.runs");
  return (
    <span className="flex flex-wrap items-center gap-x-2 text-sm text-ink-2 tabular-nums">
      <ProgressBar value={value} label={t("progress")} className="w-24" />
      {t("percent", { value: Math.round(value * 100) })}
      {step && step.of > 1 ? <span>{t("step", step)}</span> : null}
    </span>
  );
}

/** Shows the inputs that changed since the previous run. The full list is collapsed. */
function RunInputs({
  app,
  inputs,
  run,
  previousRun,
}: {
  app: string;
  inputs: readonly AppField[];
  run: AppRun;
  previousRun: AppRun | undefined;
}) {
  const t = useTranslations("apps.runs");
  const filledInputs = inputs.filter(({ name }) => getOwn(run.inputs, name) !== undefined);
  const changedFields = previousRun ? findDifferingInputs(filledInputs, [run.inputs, previousRun.inputs]) : [];
  if (filledInputs.length === 0) return null;
  const renderInputs = (fields: readonly AppField[]) => (
    <dl className="grid grid-cols-[minmax(80px,max-content)_minmax(0,1fr)] gap-x-3 gap-y-1">
      {fields.map((input) => (
        <div key={input.name} className="contents">
          <dt className="max-w-40 truncate text-ink-3">{input.label}</dt>
          <dd className="min-w-0 break-words">
            <AppValueView app={app} input={input} value={getOwn(run.inputs, input.name)} />
          </dd>
        </div>
      ))}
    </dl>
  );
  return (
    <div className="flex flex-col gap-1.5 text-sm">
      {changedFields.length > 0 && changedFields.length < filledInputs.length ? renderInputs(changedFields) : null}
      <details>
        <summary className="cursor-pointer text-ink-3 hover:text-ink">{t("given")}</summary>
        <div className="pt-1.5">{renderInputs(filledInputs)}</div>
      </details>
    </div>
  );
}

const MAX_VALUE_LENGTH = 300;

export function AppValueView({ app, input: { control }, value }: { app: string; input: AppField; value: unknown }) {
  const t = useTranslations("apps.runs");
  if (value === undefined) return <span className="text-ink-3">{t("nothing")}</span>;
  if (control.kind === "picture" && typeof value === "string")
    return (
      <Picture
        src={getAppFileUrl(app, value, 256)}
        alt={t("givenPicture")}
        width={96}
        height={72}
        fit="contain"
        className="h-[72px] w-24"
      />
    );
  if (control.kind === "video" || control.kind === "audio") return t("aFile");
  if (control.kind === "switch") return t(value === true ? "on" : "off");
  const choice = control.kind === "choice" ? control.choices.find((choice) => choice.value === value)?.label : undefined;
  return truncateText(choice || String(value), MAX_VALUE_LENGTH);
}
