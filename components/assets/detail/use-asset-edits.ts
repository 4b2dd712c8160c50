import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure/failure-text";
import { usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { lacksOperation } from "@/lib/contract/failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetChange, type AssetEdit, assetPath, requests, type TagsAnswer } from "../asset-calls";

type Choices = {
  asset: AssetView | undefined;
  connectionId: string | undefined;
  /** Row and panel show a change at once, and are corrected by the answer. */
  onPatch: (change: <A extends AssetView>(asset: A) => A) => void;
  onDone: () => void;
  onDeleted: (id: string) => void;
};
type Going = { id: string; name: string };

/** The service's answer about a tag, or why it refused. */
export type EditOutcome = { kind: "hadIt" | "hadNot"; tag: string } | { kind: "absent" } | { kind: "refused"; failure: ApiFailure };

/** Edits one asset: shown at once, corrected by the answer, reverted on a refusal. */
export function useAssetEdits({ asset, connectionId, onPatch, onDone, onDeleted }: Choices) {
  const [outcome, setOutcome] = useState<EditOutcome>();
  const [busy, setBusy] = useState<"tags" | "edit" | "delete">();
  const t = useTranslations("assets.details");
  const errors = useTranslations("errors");
  const id = asset?.id ?? "";

  function refuse(failure: ApiFailure, change?: AssetChange): void {
    const isAbsent = change !== undefined && lacksOperation(failure);
    setOutcome(isAbsent ? { kind: "absent" } : { kind: "refused", failure });
  }

  async function tag(kind: "add" | "remove", tags: string[]): Promise<void> {
    if (!asset) return;
    const before = asset.tags;
    const others = before.filter((other) => !tags.includes(other));
    const wanted = kind === "add" ? [...others, ...tags] : others;
    setOutcome(undefined);
    setBusy("tags");
    onPatch((now) => ({ ...now, tags: wanted }));
    const init = kind === "add" ? requests.addTags(tags) : requests.removeTags(tags);
    const result = await callApi<TagsAnswer>(assetPath(id, connectionId, "/tags"), init);
    setBusy(undefined);
    onPatch((now) => ({ ...now, tags: result.ok ? result.value.total_tags : before }));
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

  async function remove(going: Going, isLeaving: boolean): Promise<void> {
    setBusy("delete");
    const result = await callApi<unknown>(assetPath(going.id, connectionId), { ...requests.remove, keepalive: isLeaving });
    setBusy(undefined);
    if (result.ok) onDeleted(going.id);
    // This asset is no longer shown, so the message names it.
    if (result.ok && isLeaving) showToast({ tone: "ok", text: t("deleted", going) });
    if (result.ok) return;
    if (isLeaving) showToast({ tone: "bad", text: `${t("notDeleted", going)} ${failureText(errors, result.failure)}` });
    else refuse(result.failure, "assets.delete");
  }
  const { acts, schedule, undo } = usePendingUndo<Going>((going, isLeaving) => void remove(going, isLeaving));

  return {
    outcome,
    busy,
    addTags: (names: string[]) => void tag("add", names),
    removeTag: (name: string) => void tag("remove", [name]),
    edit,
    /** Assets that are about to be deleted: this one, and those viewed before it. */
    going: acts,
    undo,
    remove: () => {
      setOutcome(undefined);
      if (asset) schedule({ id: asset.id, name: asset.name });
    },
    dismiss: () => setOutcome(undefined),
  };
}

export type AssetEdits = ReturnType<typeof useAssetEdits>;
