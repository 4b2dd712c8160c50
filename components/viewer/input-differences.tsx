import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import useSWRImmutable from "swr/immutable";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { FileName } from "@/components/ui/truncated";
import { findInputDifferences } from "@/lib/contract/jobs/job-inputs";
import { type ReadWorkflow, type ViewerItem } from "./use-viewing";

/** The inputs that differ between the jobs, with a note for each picture whose job is missing. */
export function InputDifferences({ items, readWorkflow }: { items: readonly ViewerItem[]; readWorkflow: ReadWorkflow }) {
  const t = useTranslations("viewer.comparing");
  const tErrors = useTranslations("errors");
  const { data, mutate, isValidating } = useSWRImmutable(["viewer.workflows", ...items.map(({ id }) => id)], () =>
    Promise.all(items.map(async ({ jobId }) => (jobId === undefined ? undefined : await readWorkflow(jobId)))),
  );
  if (!data) return <LoadingBlocks label={t("loading")} blocks={["h-4 w-72"]} className="shrink-0 border-t border-line p-4" />;
  const { differences, isCut } = findInputDifferences(data.map((result) => (result?.ok ? result.value : undefined)));
  const notes = items.flatMap((_, index) => {
    const result = data[index];
    const number = index + 1;
    if (result === undefined) return [t("noJob", { at: number })];
    if (result.ok) return [];
    if (result.failure.status === 404) return [t("jobGone", { at: number })];
    return [t("jobUnread", { at: number, why: formatFailure(tErrors, result.failure) })];
  });
  const canRetry = data.some((result) => result !== undefined && !result.ok && result.failure.status !== 404);
  const [firstJobId] = items.map(({ jobId }) => jobId);
  const isOneJob = firstJobId !== undefined && items.every(({ jobId }) => jobId === firstJobId);
  return (
    <section aria-label={t("differences")} className="max-h-[38dvh] shrink-0 overflow-auto border-t border-line px-4 py-3">
      {notes.map((text) => (
        <p key={text} className="text-ink-2">
          {text}
        </p>
      ))}
      {canRetry ? (
        <Button size="small" busy={isValidating} onClick={() => void mutate()} className="mt-1">
          {t("again")}
        </Button>
      ) : null}
      {differences.length === 0 && notes.length < items.length - 1 ? <p className="text-ink-2">{t(isOneJob ? "oneJob" : "same")}</p> : null}
      {differences.length > 0 ? (
        <DifferenceTable
          items={items}
          caption={t("differences")}
          corner={t("input")}
          rows={differences.map(({ nodeId, node, input, values }) => ({
            key: `${nodeId} ${input}`,
            header: (
              <span className="whitespace-nowrap">
                {node} <span className="text-ink-3">{nodeId}</span> · {input}
              </span>
            ),
            cells: values.map((value) => value ?? t("nothing")),
          }))}
          cellClassName="font-mono text-sm"
        />
      ) : null}
      {isCut ? <p className="text-sm text-ink-3">{t("cut")}</p> : null}
    </section>
  );
}

type DifferenceTableProps = {
  /** The columns: the compared pictures. */
  items: readonly Pick<ViewerItem, "id" | "name">[];
  caption: string;
  corner?: string;
  rows: readonly { key: string; header: ReactNode; cells: readonly ReactNode[] }[];
  cellClassName?: string;
};

export function DifferenceTable({ items, caption, corner, rows, cellClassName }: DifferenceTableProps) {
  return (
    <table className="w-full text-left">
      <caption className="sr-only">{caption}</caption>
      <thead className="text-ink-3">
        <tr>
          {corner === undefined ? (
            <td className="pr-4" />
          ) : (
            <th scope="col" className="pr-4 font-normal">
              {corner}
            </th>
          )}
          {items.map(({ id, name }, index) => (
            <th key={id} scope="col" title={name} className="max-w-60 truncate pr-4 font-normal">
              {index + 1} · <FileName name={name} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, header, cells }) => (
          <tr key={key} className="border-t border-line align-top">
            <th scope="row" className="py-1 pr-4 font-normal text-ink-2">
              {header}
            </th>
            {cells.map((cell, index) => (
              <td key={index} className={cn("max-w-60 py-1 pr-4 break-words", cellClassName)}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
