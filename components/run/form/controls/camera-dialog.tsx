import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { Dialog, DialogFooter } from "@/components/ui/dialog";
import { Skeleton } from "@/components/ui/skeleton";

type CameraDialogProps = { isOpen: boolean; onClose: () => void; onPhoto: (photo: File) => void };

/** Takes a photo with the computer's camera and shows it before it is used. */
export function CameraDialog({ isOpen, onClose, onPhoto }: CameraDialogProps) {
  const t = useTranslations("run.camera");
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} className="w-[min(760px,calc(100vw-24px))]">
      <CameraBody onClose={onClose} onPhoto={onPhoto} />
    </Dialog>
  );
}

/** A common camera default: a small file without visible loss. */
const [MIME_TYPE, QUALITY] = ["image/jpeg", 0.95];
const previewStyle = "mx-auto block aspect-video max-h-[60dvh] w-full rounded-md bg-sunken object-contain";

function CameraBody({ onClose, onPhoto }: Omit<CameraDialogProps, "isOpen">) {
  const t = useTranslations("run.camera");
  const common = useTranslations("common");
  const { state, start } = useCamera();
  const video = useRef<HTMLVideoElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [playingStream, setPlayingStream] = useState<MediaStream>();
  const [photo, setPhoto] = useState<File>();
  const stream = state.kind === "on" ? state.stream : undefined;
  const cameras = state.kind === "on" ? state.cameras : [];
  function takePhoto() {
    const [source, target] = [video.current, canvas.current];
    if (!source || !target) return;
    target.width = source.videoWidth;
    target.height = source.videoHeight;
    target.getContext("2d")?.drawImage(source, 0, 0);
    target.toBlob(
      (blob) => setPhoto(blob ? new File([blob], createPhotoName(new Date()), { type: MIME_TYPE }) : undefined),
      MIME_TYPE,
      QUALITY,
    );
  }
  return (
    <div className="flex flex-col gap-3">
      {state.kind === "starting" ? (
        <div role="status">
          <Skeleton className={previewStyle} />
          <p className="mt-2">{t("starting")}</p>
        </div>
      ) : null}
      {state.kind === "off" ? (
        <p role="alert" className="text-bad">
          {t(`off.${state.problem}`)}
        </p>
      ) : null}
      {stream ? (
        <video
          ref={(element) => {
            video.current = element;
            if (element && element.srcObject !== stream) element.srcObject = stream;
          }}
          aria-label={t("view")}
          autoPlay
          muted
          playsInline
          hidden={photo !== undefined}
          onPlaying={() => setPlayingStream(stream)}
          className={previewStyle}
        />
      ) : null}
      <canvas ref={canvas} role="img" aria-label={t("taken")} hidden={!photo} className={previewStyle} />
      {cameras.length > 1 && state.kind === "on" && !photo ? (
        <Select aria-label={t("choose")} value={state.currentId} onChange={({ target }) => start(target.value)} className="self-start">
          <Options of={cameras.map(({ id, name }, index) => [id, name || t("nameless", { number: index + 1 })])} />
        </Select>
      ) : null}
      <DialogFooter>
        <Button onClick={onClose}>{common("cancel")}</Button>
        {state.kind === "off" && !photo ? (
          <Button key="start" autoFocus onClick={() => start()}>
            {common("retry")}
          </Button>
        ) : null}
        {photo ? (
          <>
            {stream ? <Button onClick={() => setPhoto(undefined)}>{t("again")}</Button> : null}
            <Button key="use" autoFocus tone="primary" onClick={() => onPhoto(photo)}>
              {t("use")}
            </Button>
          </>
        ) : stream ? (
          <Button key="take" autoFocus tone="primary" busy={playingStream !== stream} onClick={takePhoto}>
            {t("take")}
          </Button>
        ) : null}
      </DialogFooter>
    </div>
  );
}

/** Contains the date and time to the second, so that several photos have different names. */
function createPhotoName(date: Date): string {
  const pad = (number: number) => String(number).padStart(2, "0");
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  return `photo-${day}-${pad(date.getHours())}${pad(date.getMinutes())}${pad(date.getSeconds())}.jpg`;
}

type CameraProblem = "refused" | "none" | "inUse" | "notSecure" | "ended";
type Camera = { id: string; name: string };
type CameraState =
  | { kind: "starting" }
  | { kind: "on"; stream: MediaStream; cameras: readonly Camera[]; currentId: string | undefined }
  | { kind: "off"; problem: CameraProblem };

/** Uses the camera while mounted. Switches it off on unmount, even if it becomes available later. */
function useCamera() {
  // Without an `id`, the browser chooses. A new object restarts the camera.
  const [camera, setCamera] = useState<{ id?: string }>({});
  const [state, setState] = useState<CameraState>({ kind: "starting" });
  useEffect(() => {
    let isCancelled = false;
    let stream: MediaStream | undefined;
    const stop = () => stream?.getTracks().forEach((track) => track.stop());
    const update = (next: CameraState) => void (isCancelled || setState(next));
    async function startCamera() {
      stream = await openStream(camera.id);
      if (isCancelled) return stop();
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => update({ kind: "off", problem: "ended" }));
      // Browsers reveal the cameras' names only after access is granted.
      update({ kind: "on", stream, cameras: await listCameras(), currentId: track?.getSettings().deviceId });
    }
    startCamera().catch((error: unknown) => {
      stop();
      update({ kind: "off", problem: toCameraProblem(error) });
    });
    return () => {
      isCancelled = true;
      stop();
    };
  }, [camera]);
  return {
    state,
    start(id?: string) {
      setState({ kind: "starting" });
      setCamera(id === undefined ? {} : { id });
    },
  };
}

/** Requests a high resolution, since the photo is taken from the preview. */
async function openStream(id: string | undefined): Promise<MediaStream> {
  const size = { width: { ideal: 1920 }, height: { ideal: 1080 } };
  return getMediaDevices().getUserMedia({ video: { ...size, ...(id !== undefined && { deviceId: { exact: id } }) }, audio: false });
}

async function listCameras(): Promise<Camera[]> {
  const allDevices = await getMediaDevices().enumerateDevices();
  return allDevices.filter(({ kind }) => kind === "videoinput").map(({ deviceId, label }) => ({ id: deviceId, name: label }));
}

/** Browsers offer no cameras on a page served over plain http. */
function getMediaDevices(): MediaDevices {
  const mediaDevices: MediaDevices | undefined = navigator.mediaDevices;
  if (!mediaDevices) throw new DOMException("", "SecurityError");
  return mediaDevices;
}

function toCameraProblem(error: unknown): CameraProblem {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") return "refused";
  if (name === "SecurityError") return "notSecure";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "none" : "inUse";
}
