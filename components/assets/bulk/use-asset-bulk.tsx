import { useTranslations } from "next-intl";
import { useState } from "react";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { summarize, useBulkWork } from "@/components/data-table/bulk/use-bulk-work";
import { useFeature } from "@/components/frame/connection/connection-context";
import { failureText } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { type Tone } from "@/components/ui/status-badge";
import { affectsAllCalls, type BatchOutcome, callWithRetry, readAllPages, runInBatches, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { isMissingOperation } from "@/lib/contract/failure";
import { type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { assetLink, assetPath, type AssetRights, MAX_PAGE_SIZE, requests, type TagsResponse } from "../asset-calls";
import { assetsApiPath, toAssetPage } from "../assets-address";

/** Listed assets, or everything that matches a query. `loadedAssets`: those already loaded. */
export type Selected =
  | { kind: "named"; assets: readonly AssetView[] }
  | { kind: "matching"; query: AssetsQuery; total: number; loadedAssets: readonly AssetView[] };
export type PendingAssetAction = { action: AssetAction; selected: Selected };

/** With this few, users notice a wrong tile while the deletion can still be undone. */
const MAX_UNCONFIRMED = 5;

type AssetBulkOptions = {
  connection: string | undefined;
  onDone: (assetAction: AssetAction, entries: readonly Entry[]) => void;
  onUnfinished: (entries: readonly Entry[]) => void;
  /** Called when an action starts. */
  onStarted: () => void;
  /** Called when a deletion is undone. */
  onRestored: (assets: readonly AssetTarget[]) => void;
};

/** Deleting a few listed assets can be undone for five seconds. Larger actions require confirmation. */
export function useAssetBulk(options: AssetBulkOptions) {
  const [pendingAction, setPendingAction] = useState<PendingAssetAction>();
  const work = useBulkWork<AssetAction, AssetTarget, Entry, AssetsQuery>({
    ...options,
    onRestored: (_action, items) => options.onRestored(items),
    carryOut: ({ action, items }, context) => runAction(action, items, context),
    walk: walkAssets,
  });
  function carryOut({ action, selected }: PendingAssetAction): void {
    work.dismissEnded();
    options.onStarted();
    if (selected.kind === "named") void work.run({ action, items: selected.assets });
    else void work.runAll(action, selected.query);
  }

  return {
    ...work,
    pendingAct: pendingAction,
    start: (assetAction: AssetAction, selected: Selected) => {
      const needsConfirmation = selected.kind === "matching" || (assetAction.kind === "delete" && selected.assets.length > MAX_UNCONFIRMED);
      if (needsConfirmation) setPendingAction({ action: assetAction, selected });
      else if (assetAction.kind !== "delete") carryOut({ action: assetAction, selected });
      else {
        work.dismissEnded();
        work.schedule({ action: assetAction, items: selected.assets });
        options.onStarted();
      }
    },
    confirm: () => {
      setPendingAction(undefined);
      if (pendingAction) carryOut(pendingAction);
    },
    leave: () => setPendingAction(undefined),
  };
}

export type AssetAction = { kind: "addTags" | "removeTags"; tags: readonly string[] } | { kind: "delete" };
/** The asset fields that an action needs. `only`: the tags that apply to this asset. */
type AssetTarget = Pick<AssetView, "id" | "immutable"> & { name?: string; only?: readonly string[] };

const outcomes = [
  "tagged",
  "hadIt",
  "untagged",
  "hadNot",
  "deleted",
  "immutable",
  "missing",
  "unable",
  "unknown",
  "failed",
  "notDone",
] as const;
type Outcome = (typeof outcomes)[number];
/** The outcome for one asset. `changed`: tags that were added or removed; `before`: tags that needed no change. */
export type Entry = {
  id: string;
  name?: string;
  outcome: Outcome;
  changed?: readonly string[];
  before?: readonly string[];
  total?: readonly string[];
  failure?: ApiFailure;
};

/** Parallel calls while the page is open; each call waits out a rate limit. */
const MAX_CONCURRENT = 4;

async function runAction(assetAction: AssetAction, assets: readonly AssetTarget[], work: Work): Promise<Entry[]> {
  const fixed = assets.filter(({ immutable }) => immutable);
  const free = assets.filter(({ immutable }) => !immutable);
  work.onDone(fixed.length);
  async function batch(targets: readonly AssetTarget[]): Promise<BatchOutcome<Entry>> {
    const results = await Promise.all(
      targets.map((asset) =>
        applyAction(asset.only && assetAction.kind !== "delete" ? { ...assetAction, tags: asset.only } : assetAction, asset.id, work),
      ),
    );
    return { entries: results.map(({ entry }) => entry), isOver: results.some(({ isOver }) => isOver) };
  }
  const done = await runInBatches(free, work.isLeaving ? Math.max(1, free.length) : MAX_CONCURRENT, batch, work);
  const names = new Map(assets.map(({ id, name }) => [id, name]));
  const entries = fixed.map(({ id }): Entry => ({ id, outcome: "immutable" }));
  return [...done, ...entries].map((entry) => ({ ...entry, name: names.get(entry.id) }));
}

type ActionResult = { entry: Entry; isOver: boolean };

async function applyAction(assetAction: AssetAction, id: string, work: Work): Promise<ActionResult> {
  if (assetAction.kind === "delete") {
    const result = await callWithRetry<unknown>(assetPath(id, work.connection), requests.remove, work);
    return result.ok ? { entry: { id, outcome: "deleted" }, isOver: false } : refused(assetAction, id, result.failure);
  }
  const isAdding = assetAction.kind === "addTags";
  const init = isAdding ? requests.addTags(assetAction.tags) : requests.removeTags(assetAction.tags);
  const result = await callWithRetry<TagsResponse>(assetPath(id, work.connection, "/tags"), init, work);
  if (!result.ok) return refused(assetAction, id, result.failure);
  const { total_tags: total, added, removed, already_present: present, not_present: absent } = result.value;
  // Services may return only the full list of tags. Then the requested tags count as changed.
  const isDetailed = added.length + removed.length + present.length + absent.length > 0;
  const changedTags = isDetailed ? (isAdding ? added : removed) : assetAction.tags;
  const outcome = isAdding ? (changedTags.length > 0 ? "tagged" : "hadIt") : changedTags.length > 0 ? "untagged" : "hadNot";
  return { entry: { id, outcome, changed: changedTags, before: isAdding ? present : absent, total }, isOver: false };
}

function refused(assetAction: AssetAction, id: string, failure: ApiFailure): ActionResult {
  const change = assetAction.kind === "delete" ? "assets.delete" : assetAction.kind === "removeTags" ? "tags.remove" : undefined;
  if (change && isMissingOperation(failure)) {
    return { entry: { id, outcome: "unable", failure }, isOver: true };
  }
  if (failure.status === 404) return { entry: { id, outcome: "missing" }, isOver: false };
  const isUnknown = failure.status === 0 || failure.status >= 500;
  // An asset that is in use or immutable fails alone; the others continue.
  return {
    entry: { id, outcome: isUnknown ? "unknown" : "failed", failure },
    isOver: failure.status !== 403 && failure.status !== 409 && affectsAllCalls(failure),
  };
}

/** The reverse action for the changed assets; undefined if it can't be undone. */
function getReverseAction(assetAction: AssetAction, entries: readonly Entry[]): { action: AssetAction; items: AssetTarget[] } | undefined {
  if (assetAction.kind === "delete") return undefined;
  const items = entries.flatMap(({ id, name, changed }) =>
    changed && changed.length > 0 ? [{ id, name, immutable: false, only: changed }] : [],
  );
  const kind = assetAction.kind === "addTags" ? "removeTags" : "addTags";
  return items.length === 0 ? undefined : { action: { kind, tags: assetAction.tags }, items };
}

const doneOutcomes: ReadonlySet<Outcome> = new Set(["tagged", "untagged", "deleted"]);
const badOutcomes: ReadonlySet<Outcome> = new Set(["unknown", "failed"]);

function getTone(outcome: Outcome): Tone {
  return doneOutcomes.has(outcome) ? "ok" : badOutcomes.has(outcome) ? "bad" : "off";
}

/** All asset actions are idempotent. */
function isRetryable({ outcome }: Entry): boolean {
  return badOutcomes.has(outcome) || outcome === "notDone";
}

/** Summarizes the outcomes of many assets in one line. */
export function useAssetSummary() {
  const t = useTranslations("assets.bulk");
  return (entries: readonly Entry[]) => summarize(outcomes, entries, { getTone, getText: (each) => t(`count.${each.outcome}`, each) });
}

type AssetLinesProps = {
  bulk: ReturnType<typeof useAssetBulk>;
  /** The connection that links name. */
  connection: string | undefined;
  rights: AssetRights;
};

/** One line per action on assets, with the outcome of every asset. */
export function AssetLines({ bulk, connection, rights }: AssetLinesProps) {
  const t = useTranslations("assets.bulk");
  const removesFiles = useFeature("fileRemoval");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const summarizeEntries = useAssetSummary();
  return (
    <BulkLines
      words="assets.bulk"
      actions={bulk}
      undoableText={({ items }) => {
        const fixed = items.filter(({ immutable }) => immutable).length;
        const undoable = t("undoable", { count: items.length - fixed });
        return [undoable, !removesFiles && t("ask.onDisk"), fixed > 0 && t("ask.fixed", { count: fixed })].filter(Boolean).join(" ");
      }}
      readingText={(count) => t("walking", { found: count })}
      collectedText={(count) => t("collected", { count })}
      workingText={({ action, doneCount, items }) => t(`working.${action.kind}`, { done: doneCount, total: items.length })}
      summarize={summarizeEntries}
      failureText={(failure) => failureText(errors, failure)}
      isRetryable={isRetryable}
      resultActions={({ action, entries }, dismiss) => {
        const reverse = getReverseAction(action, entries);
        if (!reverse || (reverse.action.kind === "removeTags" && !rights.can("tags.remove"))) return null;
        return (
          <Button
            size="small"
            onClick={() => {
              dismiss();
              void bulk.run(reverse);
            }}
          >
            {common("undo")}
          </Button>
        );
      }}
      entryLook={{
        getTone: ({ outcome }) => getTone(outcome),
        // Includes the tags that were added or removed.
        getText: ({ outcome, changed, before, failure }) =>
          [
            t(`outcome.${outcome}`, { tags: changed?.join(", ") ?? "" }),
            (outcome === "tagged" || outcome === "untagged") &&
              before?.length &&
              `· ${t(`outcome.beside.${outcome}`, { tags: before.join(", ") })}`,
            failure && outcome !== "unable" && failureText(errors, failure),
          ]
            .filter(Boolean)
            .join(" "),
        getName: ({ name }) => name,
      }}
      copies={(items) => [
        { label: t("copyIds"), text: () => items.map(({ id }) => id).join("\n") },
        { label: t("copyLinks"), text: () => items.map(({ id }) => assetLink(id, connection)).join("\n") },
      ]}
    />
  );
}

/** Maximum assets per action. */
export const MAX_PER_ACTION = 100_000;

/** All assets of a query. Keeps only the fields that an action needs, since there may be very many. */
function walkAssets(query: AssetsQuery, work: Work) {
  const getPath = (offset: number) => assetsApiPath({ ...query, limit: MAX_PAGE_SIZE, offset }, work.connection);
  function parsePage(response: AssetsAnswer) {
    const { assets, total, hasMore } = toAssetPage(response);
    const items = assets.map(({ id, name, immutable }): AssetTarget => ({ id, name, immutable }));
    return { items, rows: assets.length, total, hasMore };
  }
  return readAllPages<AssetsAnswer, AssetTarget>({ pathAt: getPath, read: parsePage, maxItems: MAX_PER_ACTION }, work);
}
