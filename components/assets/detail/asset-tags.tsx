import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { findCompletion, useTags } from "@/components/frame/tags/tags-input";
import { cn } from "@/components/ui/cn";
import { chipStyle } from "@/components/ui/controls/button";
import { usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { Link } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { parseTags } from "@/lib/shared/text";
import { type AssetChange, type AssetEdit, type AssetRights, getAssetPath, requests, type TagsResponse } from "../asset-api";

type AssetTagsProps = {
  asset: AssetView;
  connectionId?: string;
  connection?: string;
  rights: AssetRights;
  edits: AssetEdits;
};

/** Edits the tags in place. Each tag links to its assets. */
export function AssetTags({ asset, connectionId, connection, rights, edits }: AssetTagsProps) {
  const t = useTranslations("assets.details");
  const canAdd = rights.canTag && !asset.immutable;
  const canRemove = rights.can("tags.remove") && !asset.immutable;
  return (
    <div>
      <ul aria-label={t("tags")} className="flex flex-wrap gap-1.5">
        {asset.tags.length === 0 && !canAdd ? <li className="text-ink-3">{t("noTags")}</li> : null}
        {asset.tags.map((tag) => (
          <li key={tag} className={chipStyle(false, cn("max-w-full min-w-0", canRemove && "pr-1"))}>
            <Link
              href={withQuery("/assets", { include_tags: tag, connection })}
              prefetch={false}
              className="truncate rounded-sm hover:underline"
            >
              {tag}
            </Link>
            {canRemove ? (
              <button
                type="button"
                aria-label={t("removeTag", { tag })}
                title={t("removeTag", { tag })}
                onClick={() => edits.removeTag(tag)}
                className="grid size-5 shrink-0 place-items-center rounded-full text-ink-3 hover:bg-off-soft hover:text-ink"
              >
                <X aria-hidden="true" className="size-3" />
              </button>
            ) : null}
          </li>
        ))}
        {canAdd ? (
          <li>
            <TagField connectionId={connectionId} currentTags={asset.tags} onTags={edits.addTags} />
          </li>
        ) : null}
      </ul>
      <Outcome outcome={edits.outcome} />
    </div>
  );
}

function TagField({
  connectionId,
  currentTags,
  onTags,
}: {
  connectionId?: string;
  currentTags: readonly string[];
  onTags: (tags: string[]) => void;
}) {
  const t = useTranslations("assets.details");
  const [inputText, setInputText] = useState<string>();
  const listId = useId();
  const searchText = (inputText ?? "").trim();
  // Text with a comma is a list of complete tags, so it is not used as a search.
  const isTagList = searchText.includes(",");
  const { tags } = useTags(inputText === undefined ? undefined : connectionId, isTagList ? "" : searchText);
  const otherTags = tags.map(({ name }) => name).filter((tag) => !currentTags.includes(tag));
  const suggestions = otherTags.filter((tag) => tag.toLowerCase().includes(searchText.toLowerCase()));
  return (
    <form
      action={() => {
        const singleMatch = isTagList ? undefined : findCompletion(searchText, suggestions);
        const typedTags = singleMatch === undefined ? parseTags(searchText) : [singleMatch];
        if (typedTags.length > 0) onTags(typedTags);
        setInputText("");
      }}
    >
      <input
        aria-label={t("addTag")}
        placeholder={t("addTagShort")}
        list={listId}
        value={inputText ?? ""}
        maxLength={200}
        autoComplete="off"
        onFocus={() => setInputText((current) => current ?? "")}
        onChange={({ currentTarget }) => setInputText(currentTarget.value)}
        className={chipStyle(false, "w-[72px] border-dashed placeholder:text-ink-2 focus:w-36", true)}
      />
      <datalist id={listId}>
        {otherTags.slice(0, 30).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  );
}

function Outcome({ outcome }: { outcome: EditOutcome | undefined }) {
  const t = useTranslations("assets.details");
  const errors = useTranslations("errors");
  if (!outcome) return null;
  if (outcome.kind === "refused")
    return (
      <p role="alert" className="mt-1.5 text-bad">
        {formatFailure(errors, outcome.failure)}
      </p>
    );
  return (
    <p role="status" className="mt-1.5 text-ink-2">
      {outcome.kind === "absent" ? t("absent") : t(outcome.kind, { tag: outcome.tag })}
    </p>
  );
}

type AssetEditsOptions = {
  asset: AssetView | undefined;
  connectionId: string | undefined;
  /** Applies a change to the row and the panel before the response arrives. */
  onPatch: (change: <A extends AssetView>(asset: A) => A) => void;
  onDone: () => void;
  onDeleted: (id: string) => void;
};
type PendingDeletion = { id: string; name: string };

/** The result of a change that had no effect or failed. */
type EditOutcome = { kind: "hadIt" | "hadNot"; tag: string } | { kind: "absent" } | { kind: "refused"; failure: ApiFailure };

type EditState = { outcome?: EditOutcome; busy?: "tags" | "edit" | "delete" };

/** Edits one asset optimistically. The response replaces the change, and a failure reverts it. */
export function useAssetEdits({ asset, connectionId, onPatch, onDone, onDeleted }: AssetEditsOptions) {
  // Keyed by asset id, because the panel keeps this hook when it opens another asset.
  const [states, setStates] = useState<ReadonlyMap<string, EditState>>(new Map());
  const setState = (assetId: string, state: EditState) => setStates((current) => new Map(current).set(assetId, state));
  const t = useTranslations("assets.details");
  const errors = useTranslations("errors");
  const id = asset?.id ?? "";

  function reportFailure(assetId: string, failure: ApiFailure, change?: AssetChange): void {
    const isUnsupported = change !== undefined && isMissingOperation(failure);
    setState(assetId, { outcome: isUnsupported ? { kind: "absent" } : { kind: "refused", failure } });
  }

  async function changeTags(kind: "add" | "remove", tags: string[]): Promise<void> {
    if (!asset) return;
    const previousTags = asset.tags;
    const otherTags = previousTags.filter((other) => !tags.includes(other));
    const newTags = kind === "add" ? [...otherTags, ...tags] : otherTags;
    setState(id, { busy: "tags" });
    onPatch((current) => ({ ...current, tags: newTags }));
    const init = kind === "add" ? requests.addTags(tags) : requests.removeTags(tags);
    const result = await callApi<TagsResponse>(getAssetPath(id, connectionId, "/tags"), init);
    onPatch((current) => ({ ...current, tags: result.ok ? result.value.total_tags : previousTags }));
    if (!result.ok) return reportFailure(id, result.failure, kind === "remove" ? "tags.remove" : undefined);
    const [existingTag] = result.value.already_present;
    const [missingTag] = result.value.not_present;
    if (missingTag !== undefined) setState(id, { outcome: { kind: "hadNot", tag: missingTag } });
    else setState(id, existingTag === undefined ? {} : { outcome: { kind: "hadIt", tag: existingTag } });
    onDone();
  }

  /** Returns true if the service accepted the change. */
  async function edit(change: AssetEdit): Promise<boolean> {
    setState(id, { busy: "edit" });
    const result = await callApi<unknown>(getAssetPath(id, connectionId), requests.edit(change));
    if (!result.ok) {
      reportFailure(id, result.failure, "assets.edit");
      return false;
    }
    setState(id, {});
    onDone();
    return true;
  }

  async function remove(deletion: PendingDeletion, isLeaving: boolean): Promise<void> {
    setState(deletion.id, { busy: "delete" });
    const result = await callApi<unknown>(getAssetPath(deletion.id, connectionId), { ...requests.remove, keepalive: isLeaving });
    setState(deletion.id, {});
    if (result.ok) onDeleted(deletion.id);
    // The asset is no longer shown, so the message names it.
    if (result.ok && isLeaving) showToast({ tone: "ok", text: t("deleted", deletion) });
    if (result.ok) return;
    if (isLeaving) showToast({ tone: "bad", text: `${t("notDeleted", deletion)} ${formatFailure(errors, result.failure)}` });
    else reportFailure(deletion.id, result.failure, "assets.delete");
  }
  const { actions, schedule, undo } = usePendingUndo<PendingDeletion>((deletion, isLeaving) => void remove(deletion, isLeaving));

  return {
    ...states.get(id),
    addTags: (names: string[]) => void changeTags("add", names),
    removeTag: (name: string) => void changeTags("remove", [name]),
    edit,
    /** Pending deletions of this asset and of those viewed before it. */
    pendingDeletions: actions,
    undo,
    remove: () => {
      setState(id, {});
      if (asset) schedule({ id: asset.id, name: asset.name });
    },
  };
}

export type AssetEdits = ReturnType<typeof useAssetEdits>;
