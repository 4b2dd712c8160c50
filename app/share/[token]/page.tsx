import { type Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { getLocale, getTranslations } from "next-intl/server";
import { cache } from "react";
import { SharedItem } from "@/components/share/shared-item";
import { UnlockForm } from "@/components/share/unlock-form";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { apiPath } from "@/lib/browser/urls";
import { type SharedPage } from "@/lib/contract/share";
import { openPublicPage } from "@/lib/server/bff/open-page";
import { readShare } from "@/lib/server/queries/shares";

/** The HTTP server has already counted the visit. */
const readVisitOnce = cache(async (token: string) => readShare(await openPublicPage(), token, await headers()));

// The URL contains the token, so it must not reach other sites as a referrer, or search engines.
export async function generateMetadata({ params }: PageProps<"/share/[token]">): Promise<Metadata> {
  const t = await getTranslations("sharing.page");
  const visit = await readVisitOnce((await params).token);
  const title = visit.kind === "open" ? visit.page.title || t("tab") : visit.kind === "none" ? t("goneTab") : t("tab");
  return { title: { absolute: title }, referrer: "no-referrer", robots: { index: false, follow: false, noarchive: true } };
}

export default async function SharePage({ params }: PageProps<"/share/[token]">) {
  const { token } = await params;
  const visit = await readVisitOnce(token);
  if (visit.kind === "none") return notFound();
  const t = await getTranslations("sharing.page");
  if (visit.kind === "open") return <SharedFiles token={token} page={visit.page} />;
  const labels = {
    ...{ password: t("password"), enter: t("enter"), entering: t("entering") },
    ...{ wrong: t("wrong"), tries: t("tries"), unreached: t("unreached") },
  };
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-[360px] flex-col justify-center gap-5 px-5 pb-24">
      <h1 className="text-[20px] font-semibold">{t("locked")}</h1>
      <UnlockForm token={token} labels={labels} />
    </main>
  );
}

async function SharedFiles({ token, page }: { token: string; page: SharedPage }) {
  const t = await getTranslations("sharing.page");
  const { title, maker, expiresAt, items, hasWorkflow, isCleaned } = page;
  const isOnlyItem = items.length === 1;
  const hasMedia = items.some(({ kind }) => kind === "video" || kind === "audio");
  // The server doesn't have the reader's time zone.
  const dateTimeOptions = { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" } as const;
  const expiryText = `${new Intl.DateTimeFormat(await getLocale(), dateTimeOptions).format(expiresAt)} UTC`;
  return (
    <main
      className={cn(
        "mx-auto flex min-h-dvh w-full flex-col gap-5 px-4 py-6 sm:px-6 sm:py-10",
        isOnlyItem ? "max-w-[800px]" : "max-w-[1120px]",
      )}
    >
      <header className="flex flex-wrap items-end gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-[22px] leading-tight font-semibold break-words">{title || t("tab")}</h1>
          <p className="mt-1 text-ink-2">
            {maker === undefined ? null : <>{t("by", { name: maker })} · </>}
            {t("files", { count: items.length })}
          </p>
        </div>
        {hasWorkflow ? (
          <a href={apiPath(`/api/share/${token}/workflow`)} download="workflow.json" className={cn(buttonStyle(), "h-11 px-3.5")}>
            {t("workflow")}
          </a>
        ) : null}
      </header>
      <ul className={isOnlyItem ? "" : "gap-4 sm:columns-2 lg:columns-3"}>
        {items.map((item) => (
          <li key={item.number} className="mb-4 min-w-0 break-inside-avoid">
            <SharedItem token={token} item={item} isOnlyItem={isOnlyItem} />
          </li>
        ))}
      </ul>
      <footer className="mt-auto pt-4 text-sm text-ink-3">
        <p>
          {t("until", { until: expiryText })}
          {isCleaned ? <> · {t(hasMedia ? "cleanedMedia" : "cleaned")}</> : null}
        </p>
      </footer>
    </main>
  );
}
