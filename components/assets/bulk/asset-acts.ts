import { type BatchOutcome, callPatiently, inBatches, meetsAll, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { lacksOperation } from "@/lib/contract/failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { assetPath, requests, type TagsAnswer } from "../asset-calls";

export type AssetAct = { kind: "addTags" | "removeTags"; tags: readonly string[] } | { kind: "delete" };
/** What an act needs to know of an asset; `only`: the tags that apply to this one. */
export type Meant = Pick<AssetView, "id" | "immutable"> & { name?: string; only?: readonly string[] };

export const outcomes = [
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
export type Outcome = (typeof outcomes)[number];
/** The outcome for one asset. `changed`: tags that were really added or removed; `before`: tags that were already as wanted. */
export type Entry = {
  id: string;
  name?: string;
  outcome: Outcome;
  changed?: readonly string[];
  before?: readonly string[];
  total?: readonly string[];
  failure?: ApiFailure;
};

/** Calls in parallel while the person is on the page; each call waits out a rate limit. */
const AT_ONCE = 4;

export async function runAct(act: AssetAct, assets: readonly Meant[], work: Work): Promise<Entry[]> {
  const fixed = assets.filter(({ immutable }) => immutable);
  const free = assets.filter(({ immutable }) => !immutable);
  work.onDone(fixed.length);
  async function batch(these: readonly Meant[]): Promise<BatchOutcome<Entry>> {
    const results = await Promise.all(
      these.map((asset) => actOn(asset.only && act.kind !== "delete" ? { ...act, tags: asset.only } : act, asset.id, work)),
    );
    return { entries: results.map(({ entry }) => entry), isOver: results.some(({ isOver }) => isOver) };
  }
  const done = await inBatches(free, work.isLeaving ? Math.max(1, free.length) : AT_ONCE, batch, work);
  const names = new Map(assets.map(({ id, name }) => [id, name]));
  const left = fixed.map(({ id }): Entry => ({ id, outcome: "immutable" }));
  return [...done, ...left].map((entry) => ({ ...entry, name: names.get(entry.id) }));
}

type Acted = { entry: Entry; isOver: boolean };

async function actOn(act: AssetAct, id: string, work: Work): Promise<Acted> {
  if (act.kind === "delete") {
    const result = await callPatiently<unknown>(assetPath(id, work.connection), requests.remove, work);
    return result.ok ? { entry: { id, outcome: "deleted" }, isOver: false } : refused(act, id, result.failure);
  }
  const isAdding = act.kind === "addTags";
  const init = isAdding ? requests.addTags(act.tags) : requests.removeTags(act.tags);
  const result = await callPatiently<TagsAnswer>(assetPath(id, work.connection, "/tags"), init, work);
  if (!result.ok) return refused(act, id, result.failure);
  const { total_tags: total, added, removed, already_present: present, not_present: absent } = result.value;
  // Services may send only the complete list of tags: then the requested tags count as changed.
  const isDetailed = added.length + removed.length + present.length + absent.length > 0;
  const changed = isDetailed ? (isAdding ? added : removed) : act.tags;
  const outcome = isAdding ? (changed.length > 0 ? "tagged" : "hadIt") : changed.length > 0 ? "untagged" : "hadNot";
  return { entry: { id, outcome, changed, before: isAdding ? present : absent, total }, isOver: false };
}

function refused(act: AssetAct, id: string, failure: ApiFailure): Acted {
  const change = act.kind === "delete" ? "assets.delete" : act.kind === "removeTags" ? "tags.remove" : undefined;
  if (change && lacksOperation(failure)) {
    return { entry: { id, outcome: "unable", failure }, isOver: true };
  }
  if (failure.status === 404) return { entry: { id, outcome: "missing" }, isOver: false };
  const isUnknown = failure.status === 0 || failure.status >= 500;
  // An asset that is in use or immutable fails alone; the others continue.
  return {
    entry: { id, outcome: isUnknown ? "unknown" : "failed", failure },
    isOver: failure.status !== 403 && failure.status !== 409 && meetsAll(failure),
  };
}

/** The act that would undo this one for the assets it changed; undefined where it cannot be undone. */
export function reverseOf(act: AssetAct, entries: readonly Entry[]): { act: AssetAct; items: Meant[] } | undefined {
  if (act.kind === "delete") return undefined;
  const items = entries.flatMap(({ id, name, changed }) =>
    changed && changed.length > 0 ? [{ id, name, immutable: false, only: changed }] : [],
  );
  const kind = act.kind === "addTags" ? "removeTags" : "addTags";
  return items.length === 0 ? undefined : { act: { kind, tags: act.tags }, items };
}
