"use client";

import { useLocale, useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useState } from "react";
import { useConnection, useFeature } from "@/components/frame/connection/connection-context";
import { useDenialText, useRunsAppsOnly } from "@/components/frame/member-context";
import { getUploadSources, subscribeToUploadSource, type UploadSource } from "@/components/frame/upload-sources";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { usePathname } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { createDroppedFiles, type DroppedFiles, readDroppedFiles, readFileInput } from "@/lib/browser/files/dropped-files";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { type UploadRequest } from "./uploads/upload-item";
import { type UploadsPanel } from "./uploads-panel";

type NewUploadRequest = UploadRequest extends infer R ? (R extends UploadRequest ? Omit<R, "id"> : never) : never;

/** Rendered once in the frame: accepts dropped, pasted or picked files on every page. */
export function UploadSources({ canUpload, canOpenRun }: { canUpload: boolean; canOpenRun: boolean }) {
  const t = useTranslations("frame.ways");
  const connection = useConnection();
  const hasAccess = useFeature("fullAccess");
  const canAdd = canUpload && hasAccess;
  const locale = useLocale();
  const [panel, setPanel] = useState<{ UploadsPanel: typeof UploadsPanel; requests: readonly UploadRequest[] }>();
  // The Run page handles dropped files itself, as workflows or their pictures.
  const isOutsideRunPage = usePathname() !== "/run";

  const getDenialText = useDenialText();
  const runsAppsOnly = useRunsAppsOnly();
  const messageValues = { connection: connection?.name ?? "" };
  const assetsProblem = hasFeature(connection, "assets") ? undefined : t("noAssets", messageValues);
  const uploadProblem = canAdd ? assetsProblem : getDenialText(t("refused"));
  const urlProblem = uploadProblem ?? (getUploadSources(connection).includes("url") ? undefined : t("noAddresses", messageValues));
  /** Loads the panel first. If that fails, shows a message with a retry. */
  async function startRequest(newRequest: NewUploadRequest) {
    const loadedPanel = await import("./uploads-panel").then((module) => module.loadUploadsPanel(locale)).catch(() => undefined);
    if (loadedPanel)
      setPanel((current) => {
        const requests = current?.requests ?? [];
        return { UploadsPanel: loadedPanel, requests: [...requests, { ...newRequest, id: requests.length + 1 }] };
      });
    else if (newRequest.source !== "resume")
      showToast({ tone: "bad", text: t("notLoaded"), action: { label: t("retry"), run: () => void startRequest(newRequest) } });
  }
  function acceptFiles(dropped: Promise<DroppedFiles>, canOpenWorkflows = false) {
    if (uploadProblem && !canOpenWorkflows) return showToast({ tone: "bad", text: uploadProblem });
    void startRequest({ source: "files", dropped, canOpenWorkflows, problem: uploadProblem });
  }
  const onFiles = (files: File[]) => files.length > 0 && acceptFiles(Promise.resolve(readFileInput(files)));
  const filePicker = useFilePicker({ isMultiple: true, testId: "asset-files", onFiles });
  const folderPicker = useFilePicker({ isFolder: true, testId: "asset-folder", onFiles });
  const openSource = useEffectEvent((source: UploadSource) => {
    if (uploadProblem && source !== "tray") showToast({ tone: "bad", text: uploadProblem });
    else if (source === "files") filePicker.open();
    else if (source === "folder") folderPicker.open();
    else void startRequest({ source });
  });
  useEffect(() => subscribeToUploadSource(openSource), []);
  const showRunningDownloads = useEffectEvent(() => void startRequest({ source: "resume" }));
  const connectionId = connection?.id;
  useEffect(() => {
    if (connectionId === undefined || !hasAccess || runsAppsOnly) return;
    const controller = new AbortController();
    void callApi<{ underWay: number }>(withQuery("/api/console/tasks", { connection: connectionId, count: true }), {
      signal: controller.signal,
    }).then((result) => {
      if (result.ok && result.value.underWay > 0) showRunningDownloads();
    });
    return () => controller.abort();
  }, [connectionId, hasAccess, runsAppsOnly]);
  const canOpen = canOpenRun && hasAccess && !runsAppsOnly;
  const dragKind = useWindowFiles({
    isEnabled: isOutsideRunPage,
    onFiles: (dropped) => acceptFiles(dropped, canOpen),
    onUrls: (urls) => (urlProblem ? showToast({ tone: "bad", text: urlProblem }) : void startRequest({ source: "url", urls })),
  });

  return (
    <>
      {filePicker.input}
      {folderPicker.input}
      {dragKind ? (
        <div className="pointer-events-none fixed inset-2 z-50 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-bg/85">
          <p className="rounded-lg bg-surface px-5 py-3 text-lg font-semibold shadow-lg">
            {dragKind === "files"
              ? uploadProblem
                ? canOpen
                  ? t("dropWorkflow")
                  : uploadProblem
                : t(canOpen ? "drop" : "dropFiles", messageValues)
              : (urlProblem ?? t("dropAddress", messageValues))}
          </p>
        </div>
      ) : null}
      {panel ? <panel.UploadsPanel requests={panel.requests} connection={connection} canAdd={canAdd} /> : null}
    </>
  );
}

/** Ends a drag that has no final event. Longer than the interval of drag events. */
const DRAG_TIMEOUT_MS = 1_000;
const MAX_TEXT_LENGTH = 100_000;

type DragKind = "files" | "addresses";
type WindowFilesOptions = {
  isEnabled: boolean;
  onFiles: (files: Promise<DroppedFiles>) => void;
  /** Receives one URL per line. */
  onUrls: (urls: string) => void;
};

/** Accepts files and URLs dropped or pasted in the window, unless another component handles them. Returns the kind of the current drag. */
export function useWindowFiles({ isEnabled, onFiles, onUrls }: WindowFilesOptions): DragKind | undefined {
  const [dragKind, setDragKind] = useState<DragKind>();
  const handleFiles = useEffectEvent(onFiles);
  const handleUrls = useEffectEvent(onUrls);
  useEffect(() => {
    if (!isEnabled) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isInternalDrag = false;
    const endDrag = () => {
      clearTimeout(timer);
      setDragKind(undefined);
    };
    const getDragKind = ({ defaultPrevented, dataTransfer, target }: DragEvent): DragKind | undefined => {
      const types = dataTransfer?.types ?? [];
      if (defaultPrevented) return undefined;
      if (types.includes("Files")) return "files";
      return types.includes("text/uri-list") && !isInternalDrag && !isField(target) ? "addresses" : undefined;
    };
    const controller = new AbortController();
    const addListener = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      window.addEventListener(type, listener, { signal: controller.signal });
    // Detects drags of links and images of this page.
    addListener("dragstart", ({ defaultPrevented }) => void (isInternalDrag = !defaultPrevented));
    addListener("dragend", () => void (isInternalDrag = false));
    const handleDragOver = (event: DragEvent) => {
      const kind = getDragKind(event);
      if (!kind) return endDrag();
      // Otherwise the browser would leave the page and open the dropped file.
      event.preventDefault();
      clearTimeout(timer);
      timer = setTimeout(endDrag, DRAG_TIMEOUT_MS);
      setDragKind(kind);
    };
    addListener("dragenter", handleDragOver);
    addListener("dragover", handleDragOver);
    // Without a related target, the pointer has left the window.
    addListener("dragleave", ({ relatedTarget }) => (relatedTarget === null ? endDrag() : undefined));
    addListener("drop", (event) => {
      endDrag();
      const kind = getDragKind(event);
      if (!kind || !event.dataTransfer) return;
      event.preventDefault();
      if (kind === "files") return handleFiles(readDroppedFiles(event.dataTransfer));
      const urls = parseUrls(event.dataTransfer.getData("text/uri-list").replace(/^#.*$/gm, ""));
      if (urls !== undefined) handleUrls(urls);
    });
    addListener("paste", (event) => {
      if (event.defaultPrevented || isField(event.target)) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const urls = files.length === 0 ? parseUrls(event.clipboardData?.getData("text/plain") ?? "") : undefined;
      if (files.length === 0 && urls === undefined) return;
      event.preventDefault();
      if (urls !== undefined) return handleUrls(urls);
      handleFiles(Promise.resolve(createDroppedFiles(files.map((file) => ({ path: file.name, file, pastedAt: new Date() })))));
    });
    return () => {
      endDrag();
      controller.abort();
    };
  }, [isEnabled]);
  return dragKind;
}

/** Returns the URLs in the text, one per line, or undefined if it contains anything else. */
function parseUrls(text: string): string | undefined {
  const lines = text
    .slice(0, MAX_TEXT_LENGTH)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const hasOnlyUrls = lines.length > 0 && lines.every((line) => /^https?:\/\/\S+$/i.test(line) && URL.canParse(line));
  return hasOnlyUrls ? lines.join("\n") : undefined;
}

/** Whether the target is a form field, which handles pasted text itself. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
