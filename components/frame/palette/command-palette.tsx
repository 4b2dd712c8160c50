import { useTranslations } from "next-intl";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Input } from "@/components/ui/controls/fields";
import { Dialog, KeyList } from "@/components/ui/dialog";
import { isComposing } from "@/components/ui/hooks/page-events";
import { showToast } from "@/components/ui/toast-store";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { isMissingOperation } from "@/lib/contract/failure";
import { type AssetsResponse } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { useConnection, useDirectConnection } from "../connection/connection-context";
import { useSwitchConnection } from "../connection/connection-switch";
import { formatFailure } from "../failure/failure-message";
import { useRunsAppsOnly } from "../member-context";
import { getDestinations } from "../navigation";
import {
  findItems,
  paletteGroups,
  type PaletteItem,
  parseJobId,
  useDebouncedRequest,
  useJobLookup,
  useJobSearch,
  usePaletteItems,
  useRecentJobs,
} from "./use-palette-items";

const MIN_SEARCH_LENGTH = 2;
const MAX_ASSETS = 6;

type AssetSearch = { text: string; assets: readonly AssetView[]; failure?: ApiFailure };

/** Searches the service's assets by name. */
function useAssetSearch(searchText: string): AssetSearch | undefined {
  const directConnection = useDirectConnection();
  const connection = directConnection?.id;
  const text = searchText.trim();
  const isRequested = text.length >= MIN_SEARCH_LENGTH && connection !== undefined && hasFeature(directConnection, "assets");
  const query = { name_contains: text, include_public: true, sort: "created_at", order: "desc", limit: MAX_ASSETS, connection };
  return useDebouncedRequest<AssetsResponse, AssetSearch>(isRequested ? withQuery("/api/assets", query) : undefined, (result) =>
    result.ok
      ? { text, assets: result.value.assets.map(toAssetView) }
      : { text, assets: [], ...(!isMissingOperation(result.failure) && { failure: result.failure }) },
  );
}

const MAX_TEXT_LENGTH = 200;

/** Searches pages, jobs, workflows, samples, assets, connections and actions. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const t = useTranslations("frame.palette");
  const errors = useTranslations("errors");
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const [inputText, setInputText] = useState("");
  const [activeIndex, setActiveIndex] = useState(0);
  const switchTo = useSwitchConnection();

  const recentJobs = useRecentJobs();
  const searchedId = parseJobId(inputText);
  const isRecent = recentJobs.some(({ id }) => id === searchedId);
  const jobLookup = useJobLookup(isRecent ? undefined : searchedId);
  const jobs = jobLookup?.kind === "found" ? [jobLookup.job, ...recentJobs] : recentJobs;
  const assetSearch = useAssetSearch(inputText);
  const foundJobs = useJobSearch(inputText);
  const items = usePaletteItems({
    jobs,
    foundJobs,
    assets: assetSearch?.assets ?? [],
    onSwitch: (connection) =>
      void switchTo(connection).then((failure) => failure && showToast({ tone: "bad", text: formatFailure(errors, failure) })),
  });
  const matches = findItems(items, inputText);
  const activeItem = matches[Math.min(activeIndex, matches.length - 1)];

  // The dialog focuses its first control, but some browsers focus the dialog itself if the control was added later.
  useEffect(() => field.current?.focus(), []);

  function runItem(item: PaletteItem) {
    onClose();
    item.run();
  }

  function handleKeyDown(event: KeyboardEvent) {
    if (isComposing(event.nativeEvent)) return;
    const index = activeItem ? matches.indexOf(activeItem) : -1;
    if (event.key === "ArrowDown") setActiveIndex((index + 1) % Math.max(1, matches.length));
    else if (event.key === "ArrowUp") setActiveIndex((index + matches.length - 1) % Math.max(1, matches.length));
    else if (event.key === "Enter" && activeItem) runItem(activeItem);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={<span className="sr-only">{t("title")}</span>}
      className="mt-[10dvh] mb-auto w-[min(560px,calc(100vw-24px))]"
    >
      <Input
        ref={field}
        role="combobox"
        aria-label={t("field")}
        aria-expanded
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={activeItem ? `${listId}-${activeItem.key}` : undefined}
        placeholder={t("placeholder")}
        value={inputText}
        maxLength={MAX_TEXT_LENGTH}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        enterKeyHint="go"
        className="h-9 w-full"
        onChange={(event) => {
          setInputText(event.target.value);
          setActiveIndex(0);
        }}
        onKeyDown={handleKeyDown}
      />
      <PaletteList
        id={listId}
        items={matches}
        activeKey={activeItem?.key}
        onHover={(item) => setActiveIndex(matches.indexOf(item))}
        onChoose={runItem}
      />
      <p role="status" className={matches.length > 0 ? "sr-only" : "px-2.5 py-3 text-ink-3"}>
        {matches.length > 0 ? t("count", { count: matches.length }) : t(getEmptyKey(jobLookup?.kind))}
      </p>
      {foundJobs?.reach?.extent === "reading" ? <p className="px-2.5 pb-2 text-sm text-ink-3">{t("jobsReading")}</p> : null}
      {foundJobs?.failure && jobLookup?.kind !== "failed" ? (
        <p className="px-2.5 pb-2 text-sm text-bad">{`${t("jobsFailed")} ${formatFailure(errors, foundJobs.failure)}`}</p>
      ) : null}
      {assetSearch?.failure && jobLookup?.kind !== "failed" ? (
        <p className="px-2.5 pb-2 text-sm text-bad">{`${t("assetsFailed")} ${formatFailure(errors, assetSearch.failure)}`}</p>
      ) : null}
      {jobLookup?.kind === "failed" && jobLookup.failure.code !== "NOT_FOUND" ? (
        <p className="px-2.5 pb-2 text-sm text-bad">{formatFailure(errors, jobLookup.failure)}</p>
      ) : null}
    </Dialog>
  );
}

function getEmptyKey(jobLookup: "asking" | "found" | "failed" | undefined): "asking" | "missing" | "none" {
  if (jobLookup === "asking") return "asking";
  return jobLookup === "failed" ? "missing" : "none";
}

type PaletteListProps = {
  id: string;
  items: readonly PaletteItem[];
  activeKey: string | undefined;
  onHover: (item: PaletteItem) => void;
  onChoose: (item: PaletteItem) => void;
};

/** The focus stays in the field. `aria-activedescendant` identifies the active item. */
function PaletteList({ id, items, activeKey, onHover, onChoose }: PaletteListProps) {
  const t = useTranslations("frame.palette");
  const activeElement = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Some browsers return a promise, which an effect must not return.
    void activeElement.current?.scrollIntoView({ block: "nearest" });
  }, [activeKey]);
  return (
    <div id={id} role="listbox" aria-label={t("list")} className="mt-2 max-h-[min(420px,60dvh)] overflow-y-auto overscroll-contain">
      {paletteGroups.map((group) => {
        const groupItems = items.filter((item) => item.group === group);
        return groupItems.length === 0 ? null : (
          <div key={group} role="group" aria-labelledby={`${id}-${group}`} className="pb-1.5">
            <div id={`${id}-${group}`} role="presentation" className="px-2.5 py-1 text-xs text-ink-3">
              {t(`group.${group}`)}
            </div>
            {groupItems.map((item) => (
              <div
                key={item.key}
                ref={item.key === activeKey ? activeElement : undefined}
                id={`${id}-${item.key}`}
                role="option"
                aria-selected={item.key === activeKey}
                // Keeps the focus in the field; otherwise on-screen keyboards would close at each tap.
                onPointerDown={(event) => event.preventDefault()}
                onPointerMove={() => item.key !== activeKey && onHover(item)}
                onClick={() => onChoose(item)}
                className={cn(
                  "flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-2.5 py-1 text-ink",
                  item.key === activeKey && "bg-off-soft",
                )}
              >
                <span className="min-w-0 flex-1 truncate">{item.label}</span>
                {item.note ? <span className="max-w-[45%] truncate text-sm text-ink-2">{item.note}</span> : null}
              </div>
            ))}
          </div>
        );
      })}
    </div>
  );
}

const shortcuts = [
  { action: "palette", keys: ["Ctrl", "K"] },
  { action: "move", keys: ["j", "k"] },
  { action: "select", keys: ["x"] },
  { action: "open", keys: ["Enter"] },
  { action: "cancel", keys: ["c"] },
  { action: "rerun", keys: ["r"] },
  { action: "filter", keys: ["/"] },
  { action: "extend", keys: ["Shift", "j"] },
  { action: "run", keys: ["Ctrl", "Enter"] },
  { action: "grid", keys: ["←", "↑", "↓", "→"] },
  { action: "view", keys: ["Space"] },
  { action: "all", keys: ["Ctrl", "A"] },
  { action: "close", keys: ["Esc"] },
  { action: "sheet", keys: ["?"] },
] as const;

export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const t = useTranslations("frame.keys");
  const translateFrame = useTranslations("frame");
  const pages = getDestinations(useConnection(), useRunsAppsOnly()).flatMap(({ shortcutKey, label }) =>
    shortcutKey === undefined ? [] : [{ keys: ["g", shortcutKey], text: t("goTo", { page: translateFrame(label) }) }],
  );
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} actions="close">
      <KeyList rows={[...shortcuts.map(({ action, keys }) => ({ keys, text: t(action) })), ...pages]} className="gap-y-2" />
    </Dialog>
  );
}
