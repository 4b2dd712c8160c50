"use client";

import { useRouter } from "@/components/ui/hooks/use-router";
import { useTranslations } from "next-intl";
import { use } from "react";
import { TimeFilter, type TimeRange } from "@/components/frame/list/time-filter";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useClock } from "@/components/ui/time/use-clock";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { addressValues } from "@/lib/contract/params";
import { usageParams, type UsageQuery, type UsageView } from "@/lib/contract/usage";
import { SettingsTabs } from "./settings-tabs";
import { UsageTable } from "./usage-table";

type UsageScreenProps = { query: UsageQuery; usage: Promise<UsageView> };

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
        <Usage usage={usage} />
      </div>
    </>
  );
}

function Usage({ usage }: Pick<UsageScreenProps, "usage">) {
  const t = useTranslations("usage");
  const clock = useClock();
  const { rows, isOfAll, fromMs, toMs } = use(usage);
  const day = (ms: number) => clock(ms, "until") ?? "…";
  return (
    <>
      <p className="text-ink-3">{t(isOfAll ? "text" : "textOwn")}</p>
      <Card title={t("title")} note={t("period", { from: day(fromMs), to: day(toMs - 1) })} bodyClassName="p-0">
        {rows.length === 0 ? <EmptyState title={t("empty.title")} text={t("empty.text")} /> : <UsageTable rows={rows} />}
      </Card>
      {rows.some(isInexact) ? <p className="text-sm text-ink-3">{t("note")}</p> : null}
    </>
  );
}

function isInexact({ failed, seconds, outputs, bytes }: UsageView["rows"][number]): boolean {
  return [failed, seconds, outputs, bytes].some(({ value, isAtLeast }) => value === undefined || isAtLeast);
}
