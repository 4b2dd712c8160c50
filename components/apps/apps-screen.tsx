"use client";

import { AppWindow, Star } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, use, useRef, useState } from "react";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage, formatFailure } from "@/components/frame/failure/failure-message";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { cn } from "@/components/ui/cn";
import { Button, chipStyle } from "@/components/ui/controls/button";
import { SearchField, Select } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink, Link, useRouter } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppCard, type AppsResponse, type AppView } from "@/lib/contract/apps/app";
import { type Failure } from "@/lib/contract/failure";
import { asObject } from "@/lib/contract/json/json";
import { type Result } from "@/lib/shared/result";
import { appScopes, type AppsSearch, DEFAULT_APPS_SEARCH, getAppApiPath, getAppPath, getAppsApiPath, getAppsHref } from "./apps-urls";

type AppsScreenProps = {
  search: AppsSearch;
  canCreate: boolean;
  apps: Promise<Result<TimedValue<AppsResponse>, Failure>>;
};

const readResponse = (response: AppsResponse) => response;
const getApps = ({ apps }: AppsResponse) => apps;

export function AppsScreen({ search, canCreate, apps }: AppsScreenProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps");
  const router = useRouter();
  const initialResult = use(apps);
  const path = getAppsApiPath(search, useConnection()?.id);
  const live = useLive(path, { ...toInitialOptions(initialResult), read: readResponse });
  const { items: appCards, button: moreButton } = useLoadMore(path, live.value, getApps);
  const updateSearch = (change: Partial<AppsSearch>) =>
    router.push(getAppsHref({ ...search, ...change }, connectionParam), { scroll: false });
  const isFiltered = getAppsHref(search) !== getAppsHref(DEFAULT_APPS_SEARCH);
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
              onSearch={(q) => updateSearch({ q })}
            />
          </div>
        }
      >
        {canCreate ? (
          <>
            <ImportApp />
            <ButtonLink href={withQuery("/run", { connection: connectionParam })} title={t("newHint")} tone="primary">
              {t("new")}
            </ButtonLink>
          </>
        ) : null}
      </PageHeader>
      <ToolBar label={t("filters")}>
        {appScopes.map((whose) => (
          <Link
            key={whose}
            href={getAppsHref({ ...search, whose }, connectionParam)}
            prefetch={false}
            aria-current={whose === search.whose ? "true" : undefined}
            className={chipStyle(whose === search.whose)}
          >
            {t(`whose.${whose}`)}
          </Link>
        ))}
        {live.value && (live.value.tags.length > 0 || search.tag) ? (
          <Select
            aria-label={t("tag")}
            value={search.tag}
            onChange={({ target }) => updateSearch({ tag: target.value })}
            className="ml-auto"
          >
            <option value="">{t("everyTag")}</option>
            {[...new Set([...live.value.tags, ...(search.tag ? [search.tag] : [])])].map((tag) => (
              <option key={tag}>{tag}</option>
            ))}
          </Select>
        ) : null}
      </ToolBar>
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} className="m-4 md:mx-5" /> : null}
      {appCards.length > 0 ? (
        <ul className="grid grid-cols-1 gap-3 p-4 sm:grid-cols-2 md:px-5 lg:grid-cols-3 2xl:grid-cols-4">
          {appCards.map((app, index) => (
            <Card key={app.id} app={app} eager={index < 4} onChanged={live.refresh} />
          ))}
        </ul>
      ) : null}
      {moreButton}
      {live.value && appCards.length === 0 && !live.failure ? (
        isFiltered ? (
          <EmptyState
            title={t("noneFound")}
            action={<ButtonLink href={getAppsHref(DEFAULT_APPS_SEARCH, connectionParam)}>{t("clear")}</ButtonLink>}
          />
        ) : (
          <EmptyState
            title={t("none")}
            text={t(canCreate ? "noneText" : "noneForYou")}
            action={
              canCreate ? (
                <ButtonLink href={withQuery("/run", { connection: connectionParam })} tone="primary">
                  {t("openRun")}
                </ButtonLink>
              ) : undefined
            }
          />
        )
      ) : null}
    </>
  );
}

type CardProps = { app: AppCard; eager: boolean; onChanged: () => Promise<void> };

function Card({ app, eager, onChanged }: CardProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps");
  const { id, title, text, tags, hasCover, maker, access } = app;
  const href = withQuery(getAppPath(id), { connection: connectionParam });
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

/** An app's cover image, or a placeholder of the same size. */
function Cover({ app: { id, hasCover }, eager }: { app: Pick<AppCard, "id" | "hasCover">; eager: boolean }): ReactNode {
  const imageClass = "aspect-[16/9] h-auto w-full rounded-none";
  const placeholder = (
    <span aria-hidden="true" className={cn("grid place-items-center bg-sunken text-ink-3", imageClass)}>
      <AppWindow className="size-7" strokeWidth={1.25} />
    </span>
  );
  if (!hasCover) return placeholder;
  return (
    <Picture
      src={apiPath(getAppApiPath(id, "cover"))}
      alt=""
      width={480}
      height={270}
      eager={eager}
      className={imageClass}
      fallback={() => placeholder}
    />
  );
}

type FavouriteButtonProps = { app: Pick<AppCard, "id" | "title" | "isFavourite">; onChanged: () => Promise<void>; className?: string };

export function FavouriteButton({ app: { id, title, isFavourite }, onChanged, className }: FavouriteButtonProps) {
  const t = useTranslations("apps");
  const tErrors = useTranslations("errors");
  const [pendingFavourite, setPendingFavourite] = useState<boolean>();
  const isMarkedFavourite = pendingFavourite ?? isFavourite;
  const label = t(isMarkedFavourite ? "unfavour" : "favour", { title });
  async function toggle() {
    setPendingFavourite(!isMarkedFavourite);
    const result = await callApi(getAppApiPath(id, "favourite"), { method: isMarkedFavourite ? "DELETE" : "PUT" });
    if (!result.ok) showToast({ tone: "bad", text: formatFailure(tErrors, result.failure) });
    await onChanged();
    setPendingFavourite(undefined);
  }
  return (
    <Button
      tone="quiet"
      size="icon"
      busy={pendingFavourite !== undefined}
      aria-label={label}
      title={label}
      aria-pressed={isMarkedFavourite}
      onClick={() => void toggle()}
      className={className}
    >
      <Star aria-hidden="true" className={cn("size-4", isMarkedFavourite && "fill-current text-ink")} />
    </Button>
  );
}

/** Imports an exported app file. The server validates it. */
function ImportApp() {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps");
  const router = useRouter();
  const connection = useConnection()?.id;
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [rejection, setRejection] = useState<{ name: string; failure: ApiFailure }>();
  async function importFile(file: File) {
    setBusy(true);
    const result = await callApi<{ app: AppView }>(withQuery("/api/apps/import", { connection }), {
      method: "POST",
      body: file,
      headers: { "content-type": "application/json" },
    });
    setBusy(false);
    if (result.ok) router.push(withQuery(getAppPath(result.value.app.id), { connection: connectionParam }));
    else setRejection({ name: file.name, failure: result.failure });
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
          if (file) void importFile(file);
          target.value = "";
        }}
      />
      <Dialog isOpen={rejection !== undefined} onClose={() => setRejection(undefined)} title={t("importFailed")} actions="close">
        {rejection ? <ImportProblem {...rejection} /> : null}
      </Dialog>
    </>
  );
}

/** Explains why the file can't be imported and what to choose instead. Other failures use the shared message. */
function ImportProblem({ name, failure }: { name: string; failure: ApiFailure }) {
  const t = useTranslations("apps");
  const reasonCode = failure.code === "INVALID_JSON" ? "other" : asObject(failure.details)?.reason;
  const reason = importReasons.find((importReason) => importReason === reasonCode);
  if (reason === undefined) return <FailureMessage failure={failure} title={t("importAbout")} />;
  return <p className="break-words">{t(`importReason.${reason}`, { name })}</p>;
}

const importReasons = ["workflow", "otherVersion", "damaged", "other"] as const;

/** `items` includes the first page as of the load of the second, because new items push older ones off the live first page. */
type LoadedPages<T> = { path: string; items?: readonly T[]; next?: string; isBusy?: boolean; failure?: ApiFailure };

/** Loads further pages of a list whose first page is live. Returns the items of all pages, and the button that loads more. */
export function useLoadMore<Page extends { next?: string }, T extends { id: string }>(
  path: `/${string}`,
  firstPage: Page | undefined,
  getItems: (response: Page) => readonly T[],
): { items: readonly T[]; button: ReactNode } {
  const t = useTranslations("apps");
  const [pages, setPages] = useState<LoadedPages<T>>({ path });
  const currentPages: LoadedPages<T> = pages.path === path ? pages : { path };
  const { items: loadedItems = [] } = currentPages;
  const firstItems = firstPage ? getItems(firstPage) : [];
  const cursor = currentPages.items ? currentPages.next : firstPage?.next;
  const firstIds = new Set(firstItems.map(({ id }) => id));
  // Earlier loaded items that the live first page lacks were removed.
  const followingItems = loadedItems.slice(loadedItems.findIndex(({ id }) => id === firstItems.at(-1)?.id) + 1);
  const items = [...firstItems, ...followingItems.filter(({ id }) => !firstIds.has(id))];
  async function loadMore() {
    if (cursor === undefined || currentPages.isBusy) return;
    setPages({ ...currentPages, isBusy: true, failure: undefined });
    const pagePath: `/${string}` = `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(cursor)}`;
    const result = await callApi<Page>(pagePath);
    setPages((current) => {
      if (current.path !== path) return current;
      if (!result.ok) return { ...current, isBusy: false, failure: result.failure };
      return { path, items: [...items, ...getItems(result.value)], next: result.value.next };
    });
  }
  const button =
    cursor === undefined ? null : (
      <div className="flex flex-col items-center gap-2 px-4 pb-4">
        {currentPages.failure ? <FailureMessage failure={currentPages.failure} onRetry={() => void loadMore()} /> : null}
        <Button busy={currentPages.isBusy} onClick={() => void loadMore()}>
          {t("more")}
        </Button>
      </div>
    );
  return { items, button };
}
