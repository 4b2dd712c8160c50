import Link from "next/link";
import { useTranslations } from "next-intl";
import { chipStyle } from "@/components/ui/chip";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type KnownJobState } from "@/lib/contract/states";
import { jobsHref } from "./jobs-address";

const order = ["in_progress", "pending", "completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];

type StatusFilterProps = { query: JobsQuery; connection?: string; total?: number };

/** One state at a time by press; the address may name several. */
export function StatusFilter({ query, connection, total }: StatusFilterProps) {
  const t = useTranslations("jobs");
  const states = useTranslations("frame.states");
  const chosen = query.status ?? [];
  const known = (isOn: boolean) => (isOn && total !== undefined ? <span>{total.toLocaleString("en")}</span> : null);
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
            {states(state)} {known(isOn)}
          </Link>
        );
      })}
    </>
  );
}
