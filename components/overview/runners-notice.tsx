import { useTranslations } from "next-intl";
import { use } from "react";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { ToneIcon } from "@/components/ui/tone-icon";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type Runner } from "@/lib/contract/runners/runners";
import { type Result } from "@/lib/shared/result";
import { unavailableRunners } from "./unavailable-runners";

export type UnavailableRunners = Promise<Result<Stamped<Runner[]>, Failure>>;

const slowly = () => "slow" as const;

/** For admins, while a runner that was not paused accepts no jobs, or while the state of the runners is unknown. */
export function RunnersNotice({ runners }: { runners: UnavailableRunners }) {
  const t = useTranslations("overview.runners");
  const poll = usePoll("/api/console/runners", { ...initialOf(use(runners)), read: unavailableRunners, motion: slowly });
  const unavailable = poll.value ?? [];
  if (unavailable.length === 0 && !poll.failure) return null;
  return (
    <div role="status" className="mx-4 mt-4 flex flex-wrap items-center gap-2.5 rounded-md bg-bad-soft px-3.5 py-2 md:mx-5">
      <span className="text-bad">
        <ToneIcon tone="bad" />
      </span>
      <ul className="min-w-0 flex-1">
        {unavailable.map(({ id, label, state }) => (
          <li key={id}>{t(state === "set_aside" ? "setAside" : "unreachable", { name: label })}</li>
        ))}
        {poll.failure ? <li>{t("unread")}</li> : null}
      </ul>
      <Link href="/settings/runners" className={buttonStyle()}>
        {t("open")}
      </Link>
    </div>
  );
}
