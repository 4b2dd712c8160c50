import { useLocale, useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useRunsAppsOnly } from "@/components/frame/member-context";
import { toNodeHash } from "@/components/run/form/form-model";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink, Link } from "@/components/ui/link";
import { useTimeFormat } from "@/components/ui/time";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AppRun, type AppView } from "@/lib/contract/apps/app";
import { asObject, asText } from "@/lib/contract/json/json";
import { formatBytes } from "@/lib/shared/text";
import { type FieldProblem } from "./app-values";

/** Returns a function that formats a problem, such as "Picture: needs an image". */
export function useProblemText(): (problem: FieldProblem) => string {
  const t = useTranslations("apps.problem");
  const locale = useLocale();
  return (problem) => {
    if (problem.code === "message") return t("message", problem);
    const { label, code, control = "text", limit } = problem;
    if (code === "missing") return t(`missing.${control}`, { label });
    if (code === "wrong_type") return t(`wrong_type.${control}`, { label });
    const isPixelLimit = code === "too_many_pixels" && limit !== undefined;
    const limitText = isPixelLimit ? new Intl.NumberFormat(locale).format(limit) : String(limit ?? "");
    return t(code, { label, limit: code === "file_too_large" ? formatBytes(Number(limit), locale) : limitText });
  };
}

/** Explains why a run has no results. Links to the failed node. */
export function RunError({ app, run: { state, error, jobId } }: { app: AppView; run: AppRun }) {
  const t = useTranslations("apps");
  const formatProblem = useProblemText();
  const code = state === "unsent" ? "not_sent" : error?.code;
  if (code === "inputs" || code === "workflow" || (error && code === undefined)) {
    const workflowText = app.canSeeWorkflow
      ? t("refused.workflowTextOwn")
      : t("refused.workflowText", { maker: app.maker?.name ?? t("refused.noMaker") });
    const problems = (error?.problems ?? []).map((inputProblem) =>
      formatProblem("code" in inputProblem ? inputProblem : { ...inputProblem, code: "message" }),
    );
    const messages = code === "inputs" ? problems : [code === "workflow" ? workflowText : error?.message];
    const { node } = error ?? {};
    return (
      <div className="flex flex-col gap-1">
        <ul role="alert" className="break-words text-bad">
          {messages.map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
        {state === "unknown" ? <p className="text-ink-2">{t("runs.unknownText")}</p> : null}
        {node === undefined || jobId === undefined ? null : (
          <Link
            href={`${withQuery("/run", { job: jobId, connection: app.connectionId })}${toNodeHash(node)}`}
            className="self-start text-accent hover:underline"
          >
            {t("form.showNode")}
          </Link>
        )}
      </div>
    );
  }
  if (code !== undefined) return <p className="text-ink-2">{t(`runs.error.${code}`)}</p>;
  return state === "unknown" ? <p className="text-ink-2">{t("runs.unknownText")}</p> : null;
}

/** Explains why a run was not started. */
export function RunRefusal({ app, failure, onRetry }: { app: AppView; failure: ApiFailure; onRetry: () => void }) {
  const t = useTranslations("apps.refused");
  const common = useTranslations("common");
  const formatTime = useTimeFormat();
  const runsAppsOnly = useRunsAppsOnly();
  const { limit, most: max, again, reason, node } = asObject(failure.details) ?? {};
  const retryButton = <Button onClick={onRetry}>{common("retry")}</Button>;
  if (limit === "atOnce") return <FailureNotice title={t("atOnce", { max: Number(max) })} remedy={t("atOnceText")} actions={retryButton} />;
  if (limit === "runsPerDay")
    return (
      <FailureNotice
        title={t("runsPerDay", { max: Number(max) })}
        remedy={t("runsPerDayText", { time: formatTime(Number(again), "until") ?? "" })}
      />
    );
  if (reason === "workflow") {
    const text = app.canSeeWorkflow ? t("workflowTextOwn") : t("workflowText", { maker: app.maker?.name ?? t("noMaker") });
    return (
      <FailureNotice
        title={t("workflow")}
        remedy={text}
        actions={app.canSeeWorkflow ? <NodeLink app={app} node={asText(node)} /> : undefined}
      />
    );
  }
  if (runsAppsOnly && unavailableCodes.has(failure.code)) {
    const maker = app.maker?.name ?? t("noMakerAway");
    const text = failure.code === "PAYMENT_REQUIRED" ? t("unpaidText", { maker }) : t("awayText", { maker });
    return <FailureNotice title={t("away")} remedy={text} actions={retryButton} />;
  }
  return <FailureMessage failure={failure} onRetry={onRetry} />;
}

/** Failures that members who only run apps can't fix, since that requires the settings or an account at the service. */
const unavailableCodes = new Set([
  ...["API_KEY_MISSING", "NO_CONNECTION", "UPSTREAM_UNREACHABLE", "UPSTREAM_UNREADABLE", "UPSTREAM_REFUSED_KEY", "UPSTREAM_NOT_FOUND"],
  ...["UPSTREAM_ERROR", "UPSTREAM_TIMEOUT", "PAYMENT_REQUIRED", "FORBIDDEN"],
]);

function NodeLink({ app, node }: { app: AppView; node: string | undefined }) {
  const t = useTranslations("apps");
  const runHref = withQuery("/run", { app: app.id, connection: app.connectionId });
  return (
    <ButtonLink href={node === undefined ? runHref : `${runHref}${toNodeHash(node)}`}>
      {t(node === undefined ? "showWorkflow" : "form.showNode")}
    </ButtonLink>
  );
}
