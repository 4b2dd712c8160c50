import { useTranslations } from "next-intl";
import { useState } from "react";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { summarize, useBulkOperations } from "@/components/data-table/bulk/use-bulk-operations";
import { useFeature } from "@/components/frame/connection/connection-context";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { type Tone } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/api-failure";
import {
  affectsAllCalls,
  type BatchOutcome,
  type BulkCallContext,
  callWithRetry,
  readAllPages,
  runInBatches,
} from "@/lib/browser/bulk/bulk-calls";
import { isMissingOperation } from "@/lib/contract/failure";
import { type AssetsQuery, type AssetsResponse } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetRights, getAssetLink, getAssetPath, MAX_PAGE_SIZE, requests, type TagsResponse } from "../asset-api";
import { getAssetsApiPath, toAssetPage } from "../assets-urls";

/** Listed assets, or everything that matches a query. `loadedAssets`: those already loaded. */
export type SelectedAssets =
  | { kind: "named"; assets: readonly AssetView[] }
  | { kind: "matching"; query: AssetsQuery; total: number; loadedAssets: readonly AssetView[] };
export type PendingAssetAction = { action: AssetAction; selected: SelectedAssets };

/** Up to this number, users notice a wrong tile while the deletion can still be undone. */
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
  const work = useBulkOperations<AssetAction, AssetTarget, Entry, AssetsQuery>({
    ...options,
    onRestored: (_action, items) => options.onRestored(items),
    execute: ({ action, items }, context) => runAction(action, items, context),
    walk: readMatchingAssets,
  });
  function startAction({ action, selected }: PendingAssetAction): void {
    work.dismissEnded();
    options.onStarted();
    if (selected.kind === "named") void work.run({ action, items: selected.assets });
    else void work.runAll(action, selected.query);
  }

  return {
    ...work,
    pendingAction,
    start: (assetAction: AssetAction, selected: SelectedAssets) => {
      const needsConfirmation = selected.kind === "matching" || (assetAction.kind === "delete" && selected.assets.length > MAX_UNCONFIRMED);
      if (needsConfirmation) setPendingAction({ action: assetAction, selected });
      else if (assetAction.kind !== "delete") startAction({ action: assetAction, selected });
      else {
        work.dismissEnded();
        work.schedule({ action: assetAction, items: selected.assets });
        options.onStarted();
      }
    },
    confirm: () => {
      setPendingAction(undefined);
      if (pendingAction) startAction(pendingAction);
    },
    cancelConfirmation: () => setPendingAction(undefined),
  };
}

export type AssetAction = { kind: "addTags" | "removeTags"; tags: readonly string[] } | { kind: "delete" };
/** The asset fields that an action needs. `changedTags`: the tags to change for this asset. */
type AssetTarget = Pick<AssetView, "id" | "immutable"> & { name?: string; changedTags?: readonly string[] };

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
/** The outcome for one asset. `changedTags` were added or removed. `unchangedTags` needed no change. */
export type Entry = {
  id: string;
  name?: string;
  outcome: Outcome;
  changedTags?: readonly string[];
  unchangedTags?: readonly string[];
  allTags?: readonly string[];
  failure?: ApiFailure;
};

/** Parallel calls while the page is open. Each call waits if it is rate limited. */
const MAX_CONCURRENT = 4;

async function runAction(assetAction: AssetAction, assets: readonly AssetTarget[], context: BulkCallContext): Promise<Entry[]> {
  const immutableAssets = assets.filter(({ immutable }) => immutable);
  const mutableAssets = assets.filter(({ immutable }) => !immutable);
  context.onProgress(immutableAssets.length);
  async function runBatch(targets: readonly AssetTarget[]): Promise<BatchOutcome<Entry>> {
    const results = await Promise.all(
      targets.map((asset) =>
        applyAction(
          asset.changedTags && assetAction.kind !== "delete" ? { ...assetAction, tags: asset.changedTags } : assetAction,
          asset.id,
          context,
        ),
      ),
    );
    return { entries: results.map(({ entry }) => entry), shouldStop: results.some(({ shouldStop }) => shouldStop) };
  }
  const processedEntries = await runInBatches(
    mutableAssets,
    context.isLeaving ? Math.max(1, mutableAssets.length) : MAX_CONCURRENT,
    runBatch,
    context,
  );
  const namesById = new Map(assets.map(({ id, name }) => [id, name]));
  const immutableEntries = immutableAssets.map(({ id }): Entry => ({ id, outcome: "immutable" }));
  return [...processedEntries, ...immutableEntries].map((entry) => ({ ...entry, name: namesById.get(entry.id) }));
}

type ActionResult = { entry: Entry; shouldStop: boolean };

async function applyAction(assetAction: AssetAction, id: string, context: BulkCallContext): Promise<ActionResult> {
  if (assetAction.kind === "delete") {
    const result = await callWithRetry<unknown>(getAssetPath(id, context.connection), requests.remove, context);
    return result.ok ? { entry: { id, outcome: "deleted" }, shouldStop: false } : toFailedResult(assetAction, id, result.failure);
  }
  const isAdding = assetAction.kind === "addTags";
  const init = isAdding ? requests.addTags(assetAction.tags) : requests.removeTags(assetAction.tags);
  const result = await callWithRetry<TagsResponse>(getAssetPath(id, context.connection, "/tags"), init, context);
  if (!result.ok) return toFailedResult(assetAction, id, result.failure);
  const { total_tags: allTags, added, removed, already_present: presentTags, not_present: absentTags } = result.value;
  // Services may return only the full list of tags. Then the requested tags count as changed.
  const isDetailed = added.length + removed.length + presentTags.length + absentTags.length > 0;
  const changedTags = isDetailed ? (isAdding ? added : removed) : assetAction.tags;
  const outcome = isAdding ? (changedTags.length > 0 ? "tagged" : "hadIt") : changedTags.length > 0 ? "untagged" : "hadNot";
  return { entry: { id, outcome, changedTags, unchangedTags: isAdding ? presentTags : absentTags, allTags }, shouldStop: false };
}

function toFailedResult(assetAction: AssetAction, id: string, failure: ApiFailure): ActionResult {
  const capability = assetAction.kind === "delete" ? "assets.delete" : assetAction.kind === "removeTags" ? "tags.remove" : undefined;
  if (capability && isMissingOperation(failure)) {
    return { entry: { id, outcome: "unable", failure }, shouldStop: true };
  }
  if (failure.status === 404) return { entry: { id, outcome: "missing" }, shouldStop: false };
  const isUnknown = failure.status === 0 || failure.status >= 500;
  // An asset that is in use or immutable fails on its own. The others continue.
  return {
    entry: { id, outcome: isUnknown ? "unknown" : "failed", failure },
    shouldStop: failure.status !== 403 && failure.status !== 409 && affectsAllCalls(failure),
  };
}

/** The reverse action for the changed assets; undefined if it can't be undone. */
function getReverseAction(assetAction: AssetAction, entries: readonly Entry[]): { action: AssetAction; items: AssetTarget[] } | undefined {
  if (assetAction.kind === "delete") return undefined;
  const items = entries.flatMap(({ id, name, changedTags }) =>
    changedTags && changedTags.length > 0 ? [{ id, name, immutable: false, changedTags }] : [],
  );
  const kind = assetAction.kind === "addTags" ? "removeTags" : "addTags";
  return items.length === 0 ? undefined : { action: { kind, tags: assetAction.tags }, items };
}

const successOutcomes: ReadonlySet<Outcome> = new Set(["tagged", "untagged", "deleted"]);
const failureOutcomes: ReadonlySet<Outcome> = new Set(["unknown", "failed"]);

function getTone(outcome: Outcome): Tone {
  return successOutcomes.has(outcome) ? "ok" : failureOutcomes.has(outcome) ? "bad" : "off";
}

/** All asset actions are idempotent. */
function isRetryable({ outcome }: Entry): boolean {
  return failureOutcomes.has(outcome) || outcome === "notDone";
}

/** Summarizes the outcomes of many assets in one line. */
export function useAssetSummary() {
  const t = useTranslations("assets.bulk");
  return (entries: readonly Entry[]) =>
    summarize(outcomes, entries, { getTone, getText: (result) => t(`count.${result.outcome}`, result) });
}

function countImmutable(items: readonly AssetTarget[]): number {
  return items.filter(({ immutable }) => immutable).length;
}

type AssetLinesProps = {
  bulk: ReturnType<typeof useAssetBulk>;
  /** The connection to include in links. */
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
      namespace="assets.bulk"
      actions={bulk}
      getUndoableText={({ items }) => {
        const immutableCount = countImmutable(items);
        const undoableText = t("undoable", { count: items.length - immutableCount });
        return [undoableText, !removesFiles && t("ask.onDisk"), immutableCount > 0 && t("ask.fixed", { count: immutableCount })]
          .filter(Boolean)
          .join(" ");
      }}
      getReadingText={(count) => t("walking", { found: count })}
      getCollectedText={(count) => t("collected", { count })}
      getWorkingText={({ action, doneCount, items }) => {
        // Read-only assets count as done from the start, but the confirmation doesn't include them.
        const immutableCount = countImmutable(items);
        return t(`working.${action.kind}`, { done: Math.max(0, doneCount - immutableCount), total: items.length - immutableCount });
      }}
      summarize={summarizeEntries}
      getFailureText={(failure) => formatFailure(errors, failure)}
      isRetryable={isRetryable}
      renderResultActions={({ action, entries }, dismiss) => {
        const reverseRequest = getReverseAction(action, entries);
        if (!reverseRequest || (reverseRequest.action.kind === "removeTags" && !rights.can("tags.remove"))) return null;
        return (
          <Button
            size="small"
            onClick={() => {
              dismiss();
              void bulk.run(reverseRequest);
            }}
          >
            {common("undo")}
          </Button>
        );
      }}
      entryAppearance={{
        getTone: ({ outcome }) => getTone(outcome),
        // Includes the tags that were added or removed.
        getText: ({ outcome, changedTags, unchangedTags, failure }) =>
          [
            t(`outcome.${outcome}`, { tags: changedTags?.join(", ") ?? "" }),
            (outcome === "tagged" || outcome === "untagged") &&
              unchangedTags?.length &&
              `· ${t(`outcome.beside.${outcome}`, { tags: unchangedTags.join(", ") })}`,
            failure && outcome !== "unable" && formatFailure(errors, failure),
          ]
            .filter(Boolean)
            .join(" "),
        getName: ({ name }) => name,
      }}
      getCopyOptions={(items) => [
        { label: t("copyIds"), text: () => items.map(({ id }) => id).join("\n") },
        { label: t("copyLinks"), text: () => items.map(({ id }) => getAssetLink(id, connection)).join("\n") },
      ]}
    />
  );
}

/** Maximum assets per action. */
export const MAX_PER_ACTION = 100_000;

/** Reads all assets of a query. Keeps only the fields that an action needs, since there may be many. */
function readMatchingAssets(query: AssetsQuery, context: BulkCallContext) {
  const getPath = (offset: number) => getAssetsApiPath({ ...query, limit: MAX_PAGE_SIZE, offset }, context.connection);
  function parsePage(response: AssetsResponse) {
    const { assets, total, hasMore } = toAssetPage(response);
    const items = assets.map(({ id, name, immutable }): AssetTarget => ({ id, name, immutable }));
    return { items, rowCount: assets.length, total, hasMore };
  }
  return readAllPages<AssetsResponse, AssetTarget>({ getPath, parsePage, maxItems: MAX_PER_ACTION }, context);
}
