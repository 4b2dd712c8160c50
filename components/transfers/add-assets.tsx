"use client";

import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useState } from "react";
import { useConnection, useFeature } from "@/components/frame/connection/connection-context";
import { useDenialText, useRunsAppsOnly } from "@/components/frame/member-context";
import { getUploadSources, onUploadSource, type UploadSource } from "@/components/frame/upload-sources";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { usePathname } from "@/components/ui/link";
import { selectedTimeZone } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { createDropped, type DroppedFiles, readDrop, readFileInput } from "@/lib/browser/files/dropped-files";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { type UploadRequest } from "./uploads/upload-item";

/** Loaded with the first file. */
const UploadsPanel = dynamic(() => import("./uploads-panel").then(({ UploadsPanel }) => UploadsPanel), { ssr: false });

type NewUploadRequest = UploadRequest extends infer R ? (R extends UploadRequest ? Omit<R, "id"> : never) : never;

/** Rendered once in the frame: accepts dropped, pasted or picked files on every page. */
export function UploadSources({ canAdd: mayAdd }: { canAdd: boolean }) {
  const t = useTranslations("frame.ways");
  const connection = useConnection();
  const hasAccess = useFeature("fullAccess");
  const canAdd = mayAdd && hasAccess;
  const [request, setRequest] = useState<UploadRequest>();
  // On the Run page a dropped file is a workflow or a picture for one.
  const isElsewhere = usePathname() !== "/run";

  const uploadProblem = canAdd ? (hasFeature(connection, "assets") ? undefined : "noAssets") : "refused";
  const getDenialText = useDenialText();
  const runsAppsOnly = useRunsAppsOnly();
  const urlProblem = uploadProblem ?? (getUploadSources(connection).includes("url") ? undefined : "noAddresses");
  const nameValues = { connection: connection?.name ?? "" };
  const explain = (reason: NonNullable<typeof urlProblem>) => (reason === "refused" ? getDenialText(t(reason)) : t(reason, nameValues));
  const startRequest = (newRequest: NewUploadRequest) => setRequest((current) => ({ ...newRequest, id: (current?.id ?? 0) + 1 }));
  function takeFiles(dropped: Promise<DroppedFiles>) {
    if (uploadProblem) return showToast({ tone: "bad", text: explain(uploadProblem) });
    startRequest({ source: "files", dropped });
  }
  const onFiles = (files: File[]) => files.length > 0 && takeFiles(Promise.resolve(readFileInput(files)));
  const files = useFilePicker({ isMultiple: true, testId: "asset-files", onFiles });
  const folder = useFilePicker({ isFolder: true, testId: "asset-folder", onFiles });
  const open = useEffectEvent((source: UploadSource) => {
    if (uploadProblem && source !== "tray") showToast({ tone: "bad", text: explain(uploadProblem) });
    else if (source === "files") files.open();
    else if (source === "folder") folder.open();
    else startRequest({ source });
  });
  useEffect(() => onUploadSource(open), []);
  const resume = useEffectEvent(() => startRequest({ source: "resume" }));
  const connectionId = connection?.id;
  useEffect(() => {
    if (connectionId === undefined || !hasAccess || runsAppsOnly) return;
    const controller = new AbortController();
    void callApi<{ underWay: number }>(withQuery("/api/console/tasks", { connection: connectionId, count: true }), {
      signal: controller.signal,
    }).then((result) => {
      if (result.ok && result.value.underWay > 0) resume();
    });
    return () => controller.abort();
  }, [connectionId, hasAccess, runsAppsOnly]);
  const dragKind = useWindowFiles({
    isEnabled: isElsewhere,
    onFiles: takeFiles,
    onAddress: (address) => (urlProblem ? showToast({ tone: "bad", text: explain(urlProblem) }) : startRequest({ source: "url", address })),
  });

  return (
    <>
      {files.input}
      {folder.input}
      {dragKind ? (
        <div className="pointer-events-none fixed inset-2 z-50 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-bg/85">
          <p className="rounded-lg bg-surface px-5 py-3 text-lg font-semibold shadow-lg">
            {dragKind === "files"
              ? uploadProblem
                ? explain(uploadProblem)
                : t("drop", nameValues)
              : urlProblem
                ? explain(urlProblem)
                : t("dropAddress", nameValues)}
          </p>
        </div>
      ) : null}
      {request ? <UploadsPanel request={request} connection={connection} canAdd={canAdd} /> : null}
    </>
  );
}

/** Longer than the interval of drag events; also ends a drag without a final event. */
const DRAG_TIMEOUT_MS = 1_000;
const MAX_TEXT = 100_000;

type Kind = "files" | "addresses";
type WindowFiles = {
  isEnabled: boolean;
  onFiles: (files: Promise<DroppedFiles>) => void;
  /** One per line. */
  onAddress: (addresses: string) => void;
};

/** Accepts files and URLs dropped or pasted in the window, unless another component handles them. Returns the kind of the current drag. */
export function useWindowFiles({ isEnabled, onFiles, onAddress }: WindowFiles): Kind | undefined {
  const [dragKind, setDragKind] = useState<Kind>();
  const take = useEffectEvent(onFiles);
  const takeAddress = useEffectEvent(onAddress);
  useEffect(() => {
    if (!isEnabled) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOwn = false;
    const end = () => {
      clearTimeout(timer);
      setDragKind(undefined);
    };
    const getDragKind = ({ defaultPrevented, dataTransfer, target }: DragEvent): Kind | undefined => {
      const types = dataTransfer?.types ?? [];
      if (defaultPrevented) return undefined;
      if (types.includes("Files")) return "files";
      return types.includes("text/uri-list") && !isOwn && !isField(target) ? "addresses" : undefined;
    };
    const controller = new AbortController();
    const addListener = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      window.addEventListener(type, listener, { signal: controller.signal });
    // A link or picture of this page is being dragged.
    addListener("dragstart", ({ defaultPrevented }) => void (isOwn = !defaultPrevented));
    addListener("dragend", () => void (isOwn = false));
    const handleDragOver = (event: DragEvent) => {
      const kind = getDragKind(event);
      if (!kind) return end();
      // Without this the browser would leave the page and show the dropped file.
      event.preventDefault();
      clearTimeout(timer);
      timer = setTimeout(end, DRAG_TIMEOUT_MS);
      setDragKind(kind);
    };
    addListener("dragenter", handleDragOver);
    addListener("dragover", handleDragOver);
    // Without a related target, the pointer has left the window.
    addListener("dragleave", ({ relatedTarget }) => (relatedTarget === null ? end() : undefined));
    addListener("drop", (event) => {
      end();
      const kind = getDragKind(event);
      if (!kind || !event.dataTransfer) return;
      event.preventDefault();
      if (kind === "files") return take(readDrop(event.dataTransfer));
      const addresses = parseUrls(event.dataTransfer.getData("text/uri-list").replace(/^#.*$/gm, ""));
      if (addresses !== undefined) takeAddress(addresses);
    });
    addListener("paste", (event) => {
      if (event.defaultPrevented || isField(event.target)) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const addresses = files.length === 0 ? parseUrls(event.clipboardData?.getData("text/plain") ?? "") : undefined;
      if (files.length === 0 && addresses === undefined) return;
      event.preventDefault();
      if (addresses !== undefined) return takeAddress(addresses);
      const namedFiles = files.map((file) => pastedName(file, new Date()));
      take(Promise.resolve(createDropped(namedFiles.map((file) => ({ path: file.name, file })))));
    });
    return () => {
      end();
      controller.abort();
    };
  }, [isEnabled]);
  return dragKind;
}

/** The URLs in the text, one per line; undefined if it contains anything else. */
function parseUrls(text: string): string | undefined {
  const lines = text
    .slice(0, MAX_TEXT)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const isAll = lines.length > 0 && lines.every((line) => /^https?:\/\/\S+$/i.test(line) && URL.canParse(line));
  return isAll ? lines.join("\n") : undefined;
}

/** Whether a focused field handles the paste. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

const timestampFormat = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

/** Adds the time to the name, since browsers name every pasted picture image.png. Copied files keep their names. */
export function pastedName(file: File, at: Date): File {
  const plain = /^image(\.\w+)$/i.exec(file.name);
  if (!plain) return file;
  const format = new Intl.DateTimeFormat("en-GB", { ...timestampFormat, hourCycle: "h23", timeZone: selectedTimeZone() });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const [day, time] = [
    [parts.get("year"), parts.get("month"), parts.get("day")],
    [parts.get("hour"), parts.get("minute"), parts.get("second")],
  ].map((each) => each.join("-"));
  return new File([file], `pasted ${day} ${time}${plain[1]}`, { type: file.type, lastModified: at.getTime() });
}
