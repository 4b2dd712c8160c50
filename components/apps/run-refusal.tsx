import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useRunsAppsOnly } from "@/components/frame/member-context";
import { hashOfNode } from "@/components/run/form/form-model";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { Link } from "@/components/ui/link";
import { useClock } from "@/components/ui/time/use-clock";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AppView } from "@/lib/contract/apps/app";
import { objectOf, textOf } from "@/lib/contract/json/json";

type RunRefusalProps = { app: AppView; failure: ApiFailure; onRetry: () => void };

/** Why a run was not started, for the person at the form: a limit of the app, its workflow, or its service. */
export function RunRefusal({ app, failure, onRetry }: RunRefusalProps) {
  const t = useTranslations("apps.refused");
  const common = useTranslations("common");
  const clock = useClock();
  const runsAppsOnly = useRunsAppsOnly();
  const { limit, most, again, reason, node } = objectOf(failure.details) ?? {};
  const retry = <Button onClick={onRetry}>{common("retry")}</Button>;
  if (limit === "atOnce") return <FailureNotice title={t("atOnce", { most: Number(most) })} next={t("atOnceText")} actions={retry} />;
  if (limit === "runsPerDay")
    return (
      <FailureNotice
        title={t("runsPerDay", { most: Number(most) })}
        next={t("runsPerDayText", { time: clock(Number(again), "until") ?? "" })}
      />
    );
  if (reason === "workflow") {
    const text = app.canSeeWorkflow ? t("workflowTextOwn") : t("workflowText", { maker: app.maker?.name ?? t("noMaker") });
    return (
      <FailureNotice
        title={t("workflow")}
        next={text}
        actions={app.canSeeWorkflow ? <NodeLink app={app} node={textOf(node)} /> : undefined}
      />
    );
  }
  if (runsAppsOnly && awayCodes.has(failure.code)) {
    const maker = app.maker?.name ?? t("noMakerAway");
    const text = failure.code === "PAYMENT_REQUIRED" ? t("unpaidText", { maker }) : t("awayText", { maker });
    return <FailureNotice title={t("away")} next={text} actions={retry} />;
  }
  return <FailureMessage failure={failure} onRetry={onRetry} />;
}

/** Problems that are solved in the settings or with an account at the service, which members who only run apps cannot reach. */
const awayCodes = new Set([
  ...["API_KEY_MISSING", "NO_CONNECTION", "UPSTREAM_UNREACHABLE", "UPSTREAM_UNREADABLE", "UPSTREAM_REFUSED_KEY", "UPSTREAM_NOT_FOUND"],
  ...["UPSTREAM_ERROR", "UPSTREAM_TIMEOUT", "PAYMENT_REQUIRED", "FORBIDDEN"],
]);

function NodeLink({ app, node }: { app: AppView; node: string | undefined }) {
  const t = useTranslations("apps");
  const address = withQuery("/run", { app: app.id, connection: app.connectionId });
  return (
    <Link href={node === undefined ? address : `${address}${hashOfNode(node)}`} className={buttonStyle()}>
      {t(node === undefined ? "showWorkflow" : "form.showNode")}
    </Link>
  );
}
