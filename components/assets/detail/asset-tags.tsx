import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { failureText } from "@/components/frame/failure/failure-message";
import { onlyTag, useTags } from "@/components/frame/tags/tags-input";
import { cn } from "@/components/ui/cn";
import { chipStyle } from "@/components/ui/controls/button";
import { usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { Link } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { parseTags } from "@/lib/shared/text";
import { type AssetChange, type AssetEdit, assetPath, type AssetRights, requests, type TagsResponse } from "../asset-calls";

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
  const mayAdd = rights.canTag && !asset.immutable;
  const mayRemove = rights.can("tags.remove") && !asset.immutable;
  return (
    <div>
      <ul aria-label={t("tags")} className="flex flex-wrap gap-1.5">
        {asset.tags.length === 0 && !mayAdd ? <li className="text-ink-3">{t("noTags")}</li> : null}
        {asset.tags.map((tag) => (
          <li key={tag} className={chipStyle(false, cn("max-w-full min-w-0", mayRemove && "pr-1"))}>
            <Link
              href={withQuery("/assets", { include_tags: tag, connection })}
              prefetch={false}
              className="truncate rounded-sm hover:underline"
            >
              {tag}
            </Link>
            {mayRemove ? (
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
        {mayAdd ? (
          <li>
            <TagField connectionId={connectionId} has={asset.tags} onTags={edits.addTags} />
          </li>
        ) : null}
      </ul>
      <Outcome outcome={edits.outcome} />
    </div>
  );
}

function TagField({ connectionId, has, onTags }: { connectionId?: string; has: readonly string[]; onTags: (tags: string[]) => void }) {
  const t = useTranslations("assets.details");
  const [typed, setTyped] = useState<string>();
  const list = useId();
  const search = (typed ?? "").trim();
  // Text with a comma is a list of complete tags, so it is not used as a search.
  const isTagList = search.includes(",");
  const { tags } = useTags(typed === undefined ? undefined : connectionId, isTagList ? "" : search);
  const otherTags = tags.map(({ name }) => name).filter((tag) => !has.includes(tag));
  const suggestions = otherTags.filter((tag) => tag.toLowerCase().includes(search.toLowerCase()));
  return (
    <form
      action={() => {
        const only = isTagList ? undefined : onlyTag(search, suggestions);
        const typedTags = only === undefined ? parseTags(search) : [only];
        if (typedTags.length > 0) onTags(typedTags);
        setTyped("");
      }}
    >
      <input
        aria-label={t("addTag")}
        placeholder={t("addTagShort")}
        list={list}
        value={typed ?? ""}
        maxLength={200}
        autoComplete="off"
        onFocus={() => setTyped((current) => current ?? "")}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        className={chipStyle(false, "w-[72px] border-dashed placeholder:text-ink-2 focus:w-36", true)}
      />
      <datalist id={list}>
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
        {failureText(errors, outcome.failure)}
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

/** The result of a change that had no effect or was refused. */
type EditOutcome = { kind: "hadIt" | "hadNot"; tag: string } | { kind: "absent" } | { kind: "refused"; failure: ApiFailure };

/** Edits one asset optimistically; the response corrects it and a refusal reverts it. */
export function useAssetEdits({ asset, connectionId, onPatch, onDone, onDeleted }: AssetEditsOptions) {
  const [outcome, setOutcome] = useState<EditOutcome>();
  const [busy, setBusy] = useState<"tags" | "edit" | "delete">();
  const t = useTranslations("assets.details");
  const errors = useTranslations("errors");
  const id = asset?.id ?? "";

  function refuse(failure: ApiFailure, change?: AssetChange): void {
    const isAbsent = change !== undefined && isMissingOperation(failure);
    setOutcome(isAbsent ? { kind: "absent" } : { kind: "refused", failure });
  }

  async function tag(kind: "add" | "remove", tags: string[]): Promise<void> {
    if (!asset) return;
    const previousTags = asset.tags;
    const otherTags = previousTags.filter((other) => !tags.includes(other));
    const newTags = kind === "add" ? [...otherTags, ...tags] : otherTags;
    setOutcome(undefined);
    setBusy("tags");
    onPatch((now) => ({ ...now, tags: newTags }));
    const init = kind === "add" ? requests.addTags(tags) : requests.removeTags(tags);
    const result = await callApi<TagsResponse>(assetPath(id, connectionId, "/tags"), init);
    setBusy(undefined);
    onPatch((now) => ({ ...now, tags: result.ok ? result.value.total_tags : previousTags }));
    if (!result.ok) return refuse(result.failure, kind === "remove" ? "tags.remove" : undefined);
    const [hadIt] = result.value.already_present;
    const [hadNot] = result.value.not_present;
    if (hadIt !== undefined) setOutcome({ kind: "hadIt", tag: hadIt });
    if (hadNot !== undefined) setOutcome({ kind: "hadNot", tag: hadNot });
    onDone();
  }

  /** True if the service accepted the change. */
  async function edit(change: AssetEdit): Promise<boolean> {
    setOutcome(undefined);
    setBusy("edit");
    const result = await callApi<unknown>(assetPath(id, connectionId), requests.edit(change));
    setBusy(undefined);
    if (!result.ok) refuse(result.failure, "assets.edit");
    else onDone();
    return result.ok;
  }

  async function remove(deletion: PendingDeletion, isLeaving: boolean): Promise<void> {
    setBusy("delete");
    const result = await callApi<unknown>(assetPath(deletion.id, connectionId), { ...requests.remove, keepalive: isLeaving });
    setBusy(undefined);
    if (result.ok) onDeleted(deletion.id);
    // The asset is no longer shown, so the message names it.
    if (result.ok && isLeaving) showToast({ tone: "ok", text: t("deleted", deletion) });
    if (result.ok) return;
    if (isLeaving) showToast({ tone: "bad", text: `${t("notDeleted", deletion)} ${failureText(errors, result.failure)}` });
    else refuse(result.failure, "assets.delete");
  }
  const { actions, schedule, undo } = usePendingUndo<PendingDeletion>((deletion, isLeaving) => void remove(deletion, isLeaving));

  return {
    outcome,
    busy,
    addTags: (names: string[]) => void tag("add", names),
    removeTag: (name: string) => void tag("remove", [name]),
    edit,
    /** Pending deletions: this asset, and those viewed before it. */
    going: actions,
    undo,
    remove: () => {
      setOutcome(undefined);
      if (asset) schedule({ id: asset.id, name: asset.name });
    },
    dismiss: () => setOutcome(undefined),
  };
}

export type AssetEdits = ReturnType<typeof useAssetEdits>;
