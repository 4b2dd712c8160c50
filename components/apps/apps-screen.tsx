"use client";

import { AppWindow, Star } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, use, useRef, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { failureText } from "@/components/frame/failure/fault-owner";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { chipStyle } from "@/components/ui/controls/button";
import { SearchField } from "@/components/ui/controls/fields";
import { Select } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Link, useRouter } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppCard, type AppsAnswer, type AppView } from "@/lib/contract/apps/app";
import { type Failure } from "@/lib/contract/failure";
import { objectOf } from "@/lib/contract/json/json";
import { type Result } from "@/lib/shared/result";
import { appApi, appPath, appsApiPath, appsHref, type AppsSearch, everyApp, whoseApps } from "./apps-address";
import { useMore } from "./use-more";

type AppsScreenProps = {
  search: AppsSearch;
  /** `?connection=` of the page's address, if present. */
  linked?: string;
  canMake: boolean;
  apps: Promise<Result<Stamped<AppsAnswer>, Failure>>;
};

const asIs = (answer: AppsAnswer) => answer;
const slowly = () => "background" as const;
const appsIn = ({ apps }: AppsAnswer) => apps;

export function AppsScreen({ search, linked, canMake, apps }: AppsScreenProps) {
  const t = useTranslations("apps");
  const router = useRouter();
  const first = use(apps);
  const path = appsApiPath(search, useConnection()?.id);
  const poll = usePoll(path, { ...initialOf(first), read: asIs, motion: slowly });
  const more = useMore(path, poll.value?.next, appsIn);
  const go = (change: Partial<AppsSearch>) => router.push(appsHref({ ...search, ...change }, linked), { scroll: false });
  const shown = [...(poll.value?.apps ?? []), ...more.items];
  const isSearched = appsHref(search) !== appsHref(everyApp);
  return (
    <>
      <PageHeader
        title={t("title")}
        badge={
          <div role="search" className="max-sm:order-last max-sm:w-full sm:w-64 lg:ml-3">
            <SearchField
              aria-label={t("search")}
              placeholder={t("search")}
              text={search.q}
              maxLength={200}
              className="w-full"
              onSearch={(q) => go({ q })}
            />
          </div>
        }
      >
        {canMake ? (
          <>
            <ImportApp linked={linked} />
            <Link href={withQuery("/run", { connection: linked })} title={t("newHint")} className={buttonStyle({ tone: "primary" })}>
              {t("new")}
            </Link>
          </>
        ) : null}
      </PageHeader>
      <ToolBar label={t("filters")}>
        {whoseApps.map((whose) => (
          <Link
            key={whose}
            href={appsHref({ ...search, whose }, linked)}
            prefetch={false}
            aria-current={whose === search.whose ? "true" : undefined}
            className={chipStyle(whose === search.whose)}
          >
            {t(`whose.${whose}`)}
          </Link>
        ))}
        {poll.value && (poll.value.tags.length > 0 || search.tag) ? (
          <Select aria-label={t("tag")} value={search.tag} onChange={({ target }) => go({ tag: target.value })} className="ml-auto">
            <option value="">{t("everyTag")}</option>
            {[...new Set([...poll.value.tags, ...(search.tag ? [search.tag] : [])])].map((tag) => (
              <option key={tag}>{tag}</option>
            ))}
          </Select>
        ) : null}
      </ToolBar>
      {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} className="m-4 md:mx-5" /> : null}
      {shown.length > 0 ? (
        <ul className="grid grid-cols-1 gap-3 p-4 sm:grid-cols-2 md:px-5 lg:grid-cols-3 2xl:grid-cols-4">
          {shown.map((app, index) => (
            <Card key={app.id} app={app} linked={linked} eager={index < 4} onChanged={poll.refresh} />
          ))}
        </ul>
      ) : null}
      {more.button}
      {poll.value && shown.length === 0 && !poll.failure ? (
        isSearched ? (
          <EmptyState
            title={t("noneFound")}
            action={
              <Link href={appsHref(everyApp, linked)} className={buttonStyle()}>
                {t("clear")}
              </Link>
            }
          />
        ) : (
          <EmptyState
            title={t("none")}
            text={t(canMake ? "noneText" : "noneForYou")}
            action={
              canMake ? (
                <Link href={withQuery("/run", { connection: linked })} className={buttonStyle({ tone: "primary" })}>
                  {t("openRun")}
                </Link>
              ) : undefined
            }
          />
        )
      ) : null}
    </>
  );
}

type CardProps = { app: AppCard; linked?: string; eager: boolean; onChanged: () => Promise<void> };

function Card({ app, linked, eager, onChanged }: CardProps) {
  const t = useTranslations("apps");
  const { id, title, text, tags, hasCover, maker, access } = app;
  const href = withQuery(appPath(id), { connection: linked });
  return (
    <li className="relative flex min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface transition-colors duration-100 hover:border-control">
      <Link href={href} className="flex flex-1 flex-col focus-visible:-outline-offset-2">
        <Cover app={{ id, hasCover }} eager={eager} />
        <span className="flex flex-1 flex-col gap-0.5 px-3 pt-2 pr-10">
          <span className="font-semibold break-words">{title}</span>
          {text ? <span className="line-clamp-2 break-words text-ink-2">{text}</span> : null}
        </span>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 pt-1.5 pr-12 pb-2.5 pl-3 text-sm text-ink-3">
          {tags.map((tag) => (
            <span key={tag} className="rounded-full border border-line px-1.5">
              {tag}
            </span>
          ))}
          <span>{maker?.name ?? t("formerMember")}</span>
          {access === "team" ? null : <span>{t(`access.${access}`)}</span>}
        </span>
      </Link>
      <FavouriteButton app={app} onChanged={onChanged} className="absolute right-1.5 bottom-1.5" />
    </li>
  );
}

/** The picture of an app, or a plain placeholder of the same size. */
function Cover({ app: { id, hasCover }, eager }: { app: Pick<AppCard, "id" | "hasCover">; eager: boolean }): ReactNode {
  const box = "aspect-[16/9] h-auto w-full rounded-none";
  const none = (
    <span aria-hidden="true" className={cn("grid place-items-center bg-sunken text-ink-3", box)}>
      <AppWindow className="size-7" strokeWidth={1.25} />
    </span>
  );
  if (!hasCover) return none;
  return <Picture src={apiPath(appApi(id, "cover"))} alt="" width={480} height={270} eager={eager} className={box} instead={() => none} />;
}

type FavouriteButtonProps = { app: Pick<AppCard, "id" | "title" | "isFavourite">; onChanged: () => Promise<void>; className?: string };

export function FavouriteButton({ app: { id, title, isFavourite }, onChanged, className }: FavouriteButtonProps) {
  const t = useTranslations("apps");
  const errors = useTranslations("errors");
  const [wanted, setWanted] = useState<boolean>();
  const isOn = wanted ?? isFavourite;
  const label = t(isOn ? "unfavour" : "favour", { title });
  async function toggle() {
    setWanted(!isOn);
    const done = await callApi(appApi(id, "favourite"), { method: isOn ? "DELETE" : "PUT" });
    if (!done.ok) showToast({ tone: "bad", text: failureText(errors, done.failure) });
    await onChanged();
    setWanted(undefined);
  }
  return (
    <Button
      tone="quiet"
      size="icon"
      busy={wanted !== undefined}
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      onClick={() => void toggle()}
      className={className}
    >
      <Star aria-hidden="true" className={cn("size-4", isOn && "fill-current text-ink")} />
    </Button>
  );
}

/** Imports the file of an exported app. Its bytes are sent unchanged; the server reports what is wrong with them. */
function ImportApp({ linked }: { linked?: string }) {
  const t = useTranslations("apps");
  const common = useTranslations("common");
  const router = useRouter();
  const connection = useConnection()?.id;
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ name: string; failure: ApiFailure }>();
  async function send(file: File) {
    setBusy(true);
    const done = await callApi<{ app: AppView }>(withQuery("/api/apps/import", { connection }), {
      method: "POST",
      body: file,
      headers: { "content-type": "application/json" },
    });
    setBusy(false);
    if (done.ok) router.push(withQuery(appPath(done.value.app.id), { connection: linked }));
    else setRefused({ name: file.name, failure: done.failure });
  }
  return (
    <>
      <Button tone="quiet" busy={isBusy} onClick={() => input.current?.click()}>
        {t("import")}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        data-testid="app-file"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void send(file);
          target.value = "";
        }}
      />
      <Dialog
        isOpen={refused !== undefined}
        onClose={() => setRefused(undefined)}
        title={t("importFailed")}
        actions={<Button onClick={() => setRefused(undefined)}>{common("close")}</Button>}
      >
        {refused ? <WhyNot {...refused} /> : null}
      </Dialog>
    </>
  );
}

/** For a wrong file: what it is, and what to choose instead. Other failures are shown as everywhere. */
function WhyNot({ name, failure }: { name: string; failure: ApiFailure }) {
  const t = useTranslations("apps");
  const given = failure.code === "INVALID_JSON" ? "other" : objectOf(failure.details)?.reason;
  const reason = reasons.find((one) => one === given);
  if (reason === undefined) return <FailureMessage failure={failure} about={t("importAbout")} />;
  return <p className="break-words">{t(`importReason.${reason}`, { name })}</p>;
}

const reasons = ["workflow", "otherVersion", "damaged", "other"] as const;
