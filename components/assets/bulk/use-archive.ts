"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type ArchiveAnswer } from "@/lib/contract/archive";
import { assetsApiPath } from "../assets-address";
import { type Selected } from "./use-asset-bulk";

/** Many files as one: the choice is kept by the console, and the file streams to the disk by a plain link. */
export function useArchive(connectionId: string | undefined) {
  const t = useTranslations("assets.bulk");
  const errors = useTranslations("errors");
  const [isAsking, setAsking] = useState(false);
  async function download(selected: Selected): Promise<void> {
    if (isAsking) return;
    setAsking(true);
    const json =
      selected.kind === "named"
        ? { ids: selected.assets.map(({ id }) => id) }
        : { query: assetsApiPath({ ...selected.query, offset: 0 }, undefined).split("?")[1] ?? "" };
    const path = withQuery("/api/console/archive", { connection: connectionId });
    const chosen = await callApi<ArchiveAnswer>(path, { method: "POST", json });
    setAsking(false);
    if (!chosen.ok) return showToast({ tone: "bad", text: failureText(errors, chosen.failure) });
    const { id, count, isCut } = chosen.value;
    const link = document.createElement("a");
    link.href = apiPath(`/api/console/archive/${encodeURIComponent(id)}`);
    link.download = "";
    link.click();
    if (isCut) showToast({ tone: "wait", text: t("archiveCut", { count: count ?? 0 }) });
  }
  return { download, isAsking };
}
