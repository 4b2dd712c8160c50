import { useTranslations } from "next-intl";
import useSWRImmutable from "swr/immutable";
import { failureText } from "@/components/frame/failure/fault-owner";
import { Button } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/cut";
import { Skeleton } from "@/components/ui/skeleton";
import { inputDifferences } from "@/lib/contract/jobs/job-inputs";
import { type ReadWorkflow, type ViewerItem } from "./use-viewing";

/** The inputs in which the jobs differ. A picture without a job, or whose job is gone, says so in its column. */
export function InputDifferences({ items, readWorkflow }: { items: readonly ViewerItem[]; readWorkflow: ReadWorkflow }) {
  const t = useTranslations("viewer.comparing");
  const errors = useTranslations("errors");
  const { data, mutate, isValidating } = useSWRImmutable(["viewer.workflows", ...items.map(({ id }) => id)], () =>
    Promise.all(items.map(async ({ jobId }) => (jobId === undefined ? undefined : await readWorkflow(jobId)))),
  );
  if (!data) {
    return (
      <div role="status" aria-label={t("loading")} className="shrink-0 border-t border-line p-4">
        <Skeleton className="h-4 w-72" />
      </div>
    );
  }
  const { differences, isCut } = inputDifferences(data.map((read) => (read?.ok ? read.value : undefined)));
  const unknown = items.flatMap((_, index) => {
    const read = data[index];
    const at = index + 1;
    if (read === undefined) return [t("noJob", { at })];
    if (read.ok) return [];
    return [read.failure.status === 404 ? t("jobGone", { at }) : t("jobUnread", { at, why: failureText(errors, read.failure) })];
  });
  const canRetry = data.some((read) => read !== undefined && !read.ok && read.failure.status !== 404);
  const [job] = items.map(({ jobId }) => jobId);
  const isOneJob = job !== undefined && items.every(({ jobId }) => jobId === job);
  return (
    <section aria-label={t("differences")} className="max-h-[38dvh] shrink-0 overflow-auto border-t border-line px-4 py-3">
      {unknown.map((text) => (
        <p key={text} className="text-ink-2">
          {text}
        </p>
      ))}
      {canRetry ? (
        <Button size="small" busy={isValidating} onClick={() => void mutate()} className="mt-1">
          {t("again")}
        </Button>
      ) : null}
      {differences.length === 0 && unknown.length < items.length - 1 ? (
        <p className="text-ink-2">{t(isOneJob ? "oneJob" : "same")}</p>
      ) : null}
      {differences.length > 0 ? (
        <table className="w-full text-left">
          <caption className="sr-only">{t("differences")}</caption>
          <thead className="text-ink-3">
            <tr>
              <th scope="col" className="pr-4 font-normal">
                {t("input")}
              </th>
              {items.map(({ id, name }, index) => (
                <th key={id} scope="col" title={name} className="max-w-60 truncate pr-4 font-normal">
                  {index + 1} · <FileName name={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {differences.map(({ nodeId, node, input, values }) => (
              <tr key={`${nodeId} ${input}`} className="border-t border-line align-top">
                <th scope="row" className="py-1 pr-4 font-normal whitespace-nowrap text-ink-2">
                  {node} <span className="text-ink-3">{nodeId}</span> · {input}
                </th>
                {values.map((value, index) => (
                  <td key={index} className="max-w-60 py-1 pr-4 font-mono text-sm break-words">
                    {value ?? t("nothing")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      {isCut ? <p className="text-sm text-ink-3">{t("cut")}</p> : null}
    </section>
  );
}
