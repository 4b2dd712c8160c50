import { useTranslations } from "next-intl";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Input } from "@/components/ui/controls/fields";
import { Dialog, KeyList } from "@/components/ui/dialog";
import { isComposing } from "@/components/ui/hooks/page-events";
import { showToast } from "@/components/ui/toast-store";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { isMissingOperation } from "@/lib/contract/failure";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { useConnection, useSeenConnection } from "../connection/connection-context";
import { useSwitchConnection } from "../connection/connection-switch";
import { failureText } from "../failure/failure-message";
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

const MIN_LENGTH = 2;
const MAX_COUNT = 6;

type AssetSearch = { text: string; assets: readonly AssetView[]; failure?: ApiFailure };

/** Searches the service's assets by name. */
function useAssetSearch(typed: string): AssetSearch | undefined {
  const seenConnection = useSeenConnection();
  const connection = seenConnection?.id;
  const text = typed.trim();
  const isRequested = text.length >= MIN_LENGTH && connection !== undefined && hasFeature(seenConnection, "assets");
  const query = { name_contains: text, include_public: true, sort: "created_at", order: "desc", limit: MAX_COUNT, connection };
  return useDebouncedRequest<AssetsAnswer, AssetSearch>(isRequested ? withQuery("/api/assets", query) : undefined, (result) =>
    result.ok
      ? { text, assets: result.value.assets.map(toAssetView) }
      : { text, assets: [], ...(!isMissingOperation(result.failure) && { failure: result.failure }) },
  );
}

const MAX_TEXT = 200;

/** Finds pages, jobs, workflows, samples, assets, connections and actions by typing. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const t = useTranslations("frame.palette");
  const errors = useTranslations("errors");
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [markedIndex, setMarkedIndex] = useState(0);
  const switchTo = useSwitchConnection();

  const recent = useRecentJobs();
  const searchedId = parseJobId(typed);
  const isKnown = recent.some(({ id }) => id === searchedId);
  const jobLookup = useJobLookup(isKnown ? undefined : searchedId);
  const jobs = jobLookup?.kind === "found" ? [jobLookup.job, ...recent] : recent;
  const assetSearch = useAssetSearch(typed);
  const foundJobs = useJobSearch(typed);
  const items = usePaletteItems({
    jobs,
    foundJobs,
    assets: assetSearch?.assets ?? [],
    onSwitch: (connection) =>
      void switchTo(connection).then((failure) => failure && showToast({ tone: "bad", text: failureText(errors, failure) })),
  });
  const matches = findItems(items, typed);
  const active = matches[Math.min(markedIndex, matches.length - 1)];

  // The dialog focuses its first control; some engines focus the dialog itself if the control was added later.
  useEffect(() => field.current?.focus(), []);

  function choose(item: PaletteItem) {
    onClose();
    item.run();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (isComposing(event.nativeEvent)) return;
    const index = active ? matches.indexOf(active) : -1;
    if (event.key === "ArrowDown") setMarkedIndex((index + 1) % Math.max(1, matches.length));
    else if (event.key === "ArrowUp") setMarkedIndex((index + matches.length - 1) % Math.max(1, matches.length));
    else if (event.key === "Enter" && active) choose(active);
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
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active ? `${list}-${active.key}` : undefined}
        placeholder={t("placeholder")}
        value={typed}
        maxLength={MAX_TEXT}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        enterKeyHint="go"
        className="h-9 w-full"
        onChange={(event) => {
          setTyped(event.target.value);
          setMarkedIndex(0);
        }}
        onKeyDown={onKeyDown}
      />
      <PaletteList
        id={list}
        items={matches}
        activeKey={active?.key}
        onPoint={(item) => setMarkedIndex(matches.indexOf(item))}
        onChoose={choose}
      />
      <p role="status" className={matches.length > 0 ? "sr-only" : "px-2.5 py-3 text-ink-3"}>
        {matches.length > 0 ? t("count", { count: matches.length }) : t(getEmptyKey(jobLookup?.kind))}
      </p>
      {foundJobs?.reach?.extent === "reading" ? <p className="px-2.5 pb-2 text-sm text-ink-3">{t("jobsReading")}</p> : null}
      {foundJobs?.failure && jobLookup?.kind !== "failed" ? (
        <p className="px-2.5 pb-2 text-sm text-bad">{`${t("jobsFailed")} ${failureText(errors, foundJobs.failure)}`}</p>
      ) : null}
      {assetSearch?.failure && jobLookup?.kind !== "failed" ? (
        <p className="px-2.5 pb-2 text-sm text-bad">{`${t("assetsFailed")} ${failureText(errors, assetSearch.failure)}`}</p>
      ) : null}
      {jobLookup?.kind === "failed" && jobLookup.failure.code !== "NOT_FOUND" ? (
        <p className="px-2.5 pb-2 text-sm text-bad">{failureText(errors, jobLookup.failure)}</p>
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
  onPoint: (item: PaletteItem) => void;
  onChoose: (item: PaletteItem) => void;
};

/** The focus stays in the field; `aria-activedescendant` names the marked item. */
function PaletteList({ id, items, activeKey, onPoint, onChoose }: PaletteListProps) {
  const t = useTranslations("frame.palette");
  const markedIndex = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Some browsers return a promise, which an effect must not return.
    void markedIndex.current?.scrollIntoView({ block: "nearest" });
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
                ref={item.key === activeKey ? markedIndex : undefined}
                id={`${id}-${item.key}`}
                role="option"
                aria-selected={item.key === activeKey}
                // Keeps the focus in the field; otherwise on-screen keyboards would close at each tap.
                onPointerDown={(event) => event.preventDefault()}
                onPointerMove={() => item.key !== activeKey && onPoint(item)}
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

const keys = [
  { act: "palette", shown: ["Ctrl", "K"] },
  { act: "move", shown: ["j", "k"] },
  { act: "select", shown: ["x"] },
  { act: "open", shown: ["Enter"] },
  { act: "cancel", shown: ["c"] },
  { act: "rerun", shown: ["r"] },
  { act: "filter", shown: ["/"] },
  { act: "extend", shown: ["Shift", "j"] },
  { act: "run", shown: ["Ctrl", "Enter"] },
  { act: "grid", shown: ["←", "↑", "↓", "→"] },
  { act: "view", shown: ["Space"] },
  { act: "all", shown: ["Ctrl", "A"] },
  { act: "close", shown: ["Esc"] },
  { act: "sheet", shown: ["?"] },
] as const;

export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const t = useTranslations("frame.keys");
  const page = useTranslations("frame");
  const pages = getDestinations(useConnection(), useRunsAppsOnly()).flatMap(({ letter, label }) =>
    letter === undefined ? [] : [{ keys: ["g", letter], text: t("goTo", { page: page(label) }) }],
  );
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} actions="close">
      <KeyList rows={[...keys.map(({ act, shown }) => ({ keys: shown, text: t(act) })), ...pages]} className="gap-y-2" />
    </Dialog>
  );
}
