"use client";

import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useCounts } from "@/components/frame/counts-context";
import { chipStyle } from "@/components/ui/chip";
import { Link } from "@/components/ui/link";
import { useNumber } from "@/components/ui/use-numbers";
import { isSearch } from "@/lib/contract/job-search";
import { type KnownJobState } from "@/lib/contract/states";
import { type JobsChange } from "./list-state";
import { type Place } from "./use-list-state";

const order = ["in_progress", "pending", "completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];

/** `total`: of the list as it stands. */
type StatusFilterProps = { place: Place; total?: number };

/** Each chip adds its state or takes it away. Counts stand where they are known without asking for them. */
export function StatusFilter({ place, total }: StatusFilterProps) {
  const t = useTranslations("jobs");
  const states = useTranslations("frame.states");
  const { running, pending } = useCounts();
  const { query } = place;
  const chosen = query.status ?? [];
  const isAllWorkflows = !query.workflow_id && !query.output_type && !isSearch(query);
  const counts: Partial<Record<KnownJobState, number>> = {
    ...(isAllWorkflows && { in_progress: running, pending }),
    ...(chosen.length === 1 && chosen[0] && !place.isMoving && { [chosen[0]]: total }),
  };
  return (
    <>
      <Chip place={place} change={{ status: undefined }} isOn={chosen.length === 0}>
        {t("filter.all")}
      </Chip>
      {order.map((state) => {
        const isOn = chosen.includes(state);
        const next = order.filter((each) => (each === state ? !isOn : chosen.includes(each)));
        return (
          <Chip key={state} place={place} change={{ status: next.length > 0 ? next : undefined }} isOn={isOn}>
            {states(state)} <Count value={counts[state]} hasRoom={isAllWorkflows && (state === "in_progress" || state === "pending")} />
          </Chip>
        );
      })}
    </>
  );
}

type ChipProps = { place: Place; change: JobsChange; isOn: boolean; children: ReactNode };

function Chip({ place, change, isOn, children }: ChipProps) {
  return (
    <Link
      href={place.hrefOf(change)}
      prefetch={false}
      onNavigate={(event) => {
        event.preventDefault();
        place.go(change);
      }}
      aria-current={isOn ? "true" : undefined}
      className={chipStyle(isOn)}
    >
      {children}
    </Link>
  );
}

/** Numbers that come and go while jobs run have their room before they are there, so that the chips beside them stay. */
function Count({ value, hasRoom }: { value: number | undefined; hasRoom: boolean }) {
  const number = useNumber();
  if (value === undefined && !hasRoom) return null;
  return <span className={hasRoom ? "min-w-[1ch]" : undefined}>{value === undefined ? null : number(value)}</span>;
}
