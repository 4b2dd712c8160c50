import { useTranslations } from "next-intl";
import { hashOfNode } from "@/components/run/form/form-model";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { type AppRun, type AppView } from "@/lib/contract/apps/app";
import { useProblemText } from "./problem-text";

/** Why a run gave no results, in the app's words; members who may see the workflow can unfold the node's error. */
export function RunError({ app, run: { state, error, jobId } }: { app: AppView; run: AppRun }) {
  const t = useTranslations("apps");
  const problemText = useProblemText();
  const code = state === "unsent" ? "not_sent" : error?.code;
  if (code === "inputs" || code === "workflow" || (error && code === undefined)) {
    const refused = app.canSeeWorkflow
      ? t("refused.workflowTextOwn")
      : t("refused.workflowText", { maker: app.maker?.name ?? t("refused.noMaker") });
    const problems = (error?.problems ?? []).map((one) => problemText("code" in one ? one : { ...one, code: "message" }));
    const lines = code === "inputs" ? problems : [code === "workflow" ? refused : error?.message];
    const { node } = error ?? {};
    return (
      <div className="flex flex-col gap-1">
        <ul role="alert" className="break-words text-bad">
          {lines.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
        {state === "unknown" ? <p className="text-ink-2">{t("runs.unknownText")}</p> : null}
        {node === undefined || jobId === undefined ? null : (
          <Link
            href={`${withQuery("/run", { job: jobId, connection: app.connectionId })}${hashOfNode(node)}`}
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
