import Link from "next/link";
import { useTranslations } from "next-intl";
import { useCounts } from "@/components/frame/counts-context";
import { chipStyle } from "@/components/ui/chip";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type KnownJobState } from "@/lib/contract/states";
import { jobsHref } from "./jobs-address";

const order = ["in_progress", "pending", "completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];

type StatusFilterProps = { query: JobsQuery; connection?: string; total?: number };

/** One state at a time by press; the address may name several. Counts stand where they are known without asking for them. */
export function StatusFilter({ query, connection, total }: StatusFilterProps) {
  const t = useTranslations("jobs");
  const states = useTranslations("frame.states");
  const { running, pending } = useCounts();
  const chosen = query.status ?? [];
  const isAllWorkflows = !query.workflow_id && !query.output_type;
  const counts: Partial<Record<KnownJobState, number>> = {
    ...(isAllWorkflows && { in_progress: running, pending }),
    ...(chosen.length === 1 && chosen[0] && { [chosen[0]]: total }),
  };
  return (
    <>
      <Link
        href={jobsHref(query, { status: undefined, offset: 0, connection })}
        aria-current={chosen.length === 0 ? "true" : undefined}
        className={chipStyle(chosen.length === 0)}
      >
        {t("filter.all")}
      </Link>
      {order.map((state) => {
        const isOn = chosen.includes(state);
        return (
          <Link
            key={state}
            href={jobsHref(query, { status: isOn && chosen.length === 1 ? undefined : [state], offset: 0, connection })}
            aria-current={isOn ? "true" : undefined}
            className={chipStyle(isOn)}
          >
            {states(state)} <Count value={counts[state]} hasRoom={isAllWorkflows && (state === "in_progress" || state === "pending")} />
          </Link>
        );
      })}
    </>
  );
}

/** Numbers that come and go while jobs run have their room before they are there, so that the chips beside them stay. */
function Count({ value, hasRoom }: { value: number | undefined; hasRoom: boolean }) {
  if (value === undefined && !hasRoom) return null;
  return <span className={hasRoom ? "min-w-[1ch]" : undefined}>{value?.toLocaleString("en")}</span>;
}
