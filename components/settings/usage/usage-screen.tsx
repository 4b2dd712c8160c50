"use client";

import { useTranslations } from "next-intl";
import { use } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { TimeFilter, type TimeRange } from "@/components/frame/list/time-filter";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { useClock } from "@/components/ui/time/use-clock";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { addressValues } from "@/lib/contract/params";
import { usageParams, type UsageQuery, type UsageView } from "@/lib/contract/people/usage";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { UsageTable } from "./usage-table";

type UsageScreenProps = { query: UsageQuery; usage: Promise<Result<Stamped<UsageView>, Failure>> };

const spans = ["week", "month", "quarter"] as const;

export function UsageScreen({ query, usage }: UsageScreenProps) {
  const t = useTranslations("usage");
  const settings = useTranslations("settings");
  const router = useRouter();
  const { from, to } = query;
  const shown: TimeRange = from === undefined && to === undefined ? query : { from, to };
  const values = (range: UsageQuery) => addressValues(usageParams, range);
  const go = ({ within = usageParams.within.usual, ...dates }: TimeRange) =>
    router.push(withQuery("/settings/usage", values({ within, ...dates })));
  return (
    <>
      <PageHeader title={settings("title")} />
      <SettingsTabs current="usage" />
      <div className="flex w-full max-w-[1080px] min-w-0 flex-col gap-3.5 p-4 md:px-5">
        <div className="flex flex-wrap items-center gap-2">
          <TimeFilter range={shown} spans={spans} onGo={go} />
          <a
            href={apiPath(withQuery("/api/console/usage/export", values(query)))}
            download
            className={buttonStyle({ className: "ml-auto" })}
          >
            {t("export")}
          </a>
        </div>
        <Usage query={query} usage={usage} />
      </div>
    </>
  );
}

const same = (usage: UsageView) => usage;
const motion = () => "slow" as const;

function Usage({ query, usage }: UsageScreenProps) {
  const t = useTranslations("usage");
  const clock = useClock();
  const path = withQuery("/api/console/usage", addressValues(usageParams, query));
  const poll = usePoll(path, { ...initialOf(use(usage)), read: same, motion });
  const notice = poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} /> : null;
  if (!poll.value) return notice;
  const { rows, isOfAll, fromMs, toMs } = poll.value;
  const day = (ms: number) => clock(ms, "until") ?? "…";
  return (
    <>
      {notice}
      <p className="text-ink-3">{t(isOfAll ? "text" : "textOwn")}</p>
      <Card title={t("title")} note={t("period", { from: day(fromMs), to: day(toMs - 1) })} bodyClassName="p-0">
        {rows.length > 0 ? <UsageTable rows={rows} /> : notice ? null : <EmptyState title={t("empty.title")} text={t("empty.text")} />}
      </Card>
      {rows.some(isInexact) ? <p className="text-sm text-ink-3">{t("note")}</p> : null}
    </>
  );
}

function isInexact({ failed, seconds, outputs, bytes }: UsageView["rows"][number]): boolean {
  return [failed, seconds, outputs, bytes].some(({ value, isAtLeast }) => value === undefined || isAtLeast);
}
