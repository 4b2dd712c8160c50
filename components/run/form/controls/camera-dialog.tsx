import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { Skeleton } from "@/components/ui/skeleton";

type CameraDialogProps = { isOpen: boolean; onClose: () => void; onPhoto: (photo: File) => void };

/** Takes a photo with the computer's camera and shows it before it is used. */
export function CameraDialog({ isOpen, onClose, onPhoto }: CameraDialogProps) {
  const t = useTranslations("run.camera");
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} className="w-[min(760px,calc(100vw-24px))]">
      <Body onClose={onClose} onPhoto={onPhoto} />
    </Dialog>
  );
}

/** A common camera default: a small file without visible loss. */
const [MIME_TYPE, QUALITY] = ["image/jpeg", 0.95];
const box = "mx-auto block aspect-video max-h-[60dvh] w-full rounded-md bg-sunken object-contain";

function Body({ onClose, onPhoto }: Omit<CameraDialogProps, "isOpen">) {
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
    const [from, to] = [video.current, canvas.current];
    if (!from || !to) return;
    to.width = from.videoWidth;
    to.height = from.videoHeight;
    to.getContext("2d")?.drawImage(from, 0, 0);
    to.toBlob((blob) => setPhoto(blob ? new File([blob], toPhotoName(new Date()), { type: MIME_TYPE }) : undefined), MIME_TYPE, QUALITY);
  }
  return (
    <div className="flex flex-col gap-3">
      {state.kind === "starting" ? (
        <div role="status">
          <Skeleton className={box} />
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
          className={box}
        />
      ) : null}
      <canvas ref={canvas} role="img" aria-label={t("taken")} hidden={!photo} className={box} />
      {cameras.length > 1 && state.kind === "on" && !photo ? (
        <Select aria-label={t("choose")} value={state.current} onChange={({ target }) => start(target.value)} className="self-start">
          <Options of={cameras.map(({ id, name }, index) => [id, name || t("nameless", { number: index + 1 })])} />
        </Select>
      ) : null}
      <DialogFoot>
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
      </DialogFoot>
    </div>
  );
}

/** Named by date and time to the second, so that several photos have different names. */
function toPhotoName(at: Date): string {
  const pad = (number: number) => String(number).padStart(2, "0");
  const day = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join("-");
  return `photo-${day}-${pad(at.getHours())}${pad(at.getMinutes())}${pad(at.getSeconds())}.jpg`;
}

type CameraProblem = "refused" | "none" | "inUse" | "notSecure" | "ended";
type Camera = { id: string; name: string };
type CameraState =
  | { kind: "starting" }
  | { kind: "on"; stream: MediaStream; cameras: readonly Camera[]; current: string | undefined }
  | { kind: "off"; problem: CameraProblem };

/** The camera while the caller is mounted. It is switched off on unmount, even if it becomes available later. */
function useCamera() {
  // Without an `id`, the browser chooses. A new object restarts the camera.
  const [camera, setCamera] = useState<{ id?: string }>({});
  const [state, setState] = useState<CameraState>({ kind: "starting" });
  useEffect(() => {
    let isOver = false;
    let stream: MediaStream | undefined;
    const stop = () => stream?.getTracks().forEach((track) => track.stop());
    const update = (next: CameraState) => void (isOver || setState(next));
    async function startCamera() {
      stream = await openStream(camera.id);
      if (isOver) return stop();
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => update({ kind: "off", problem: "ended" }));
      // Browsers reveal the cameras' names only after access is granted.
      update({ kind: "on", stream, cameras: await listCameras(), current: track?.getSettings().deviceId });
    }
    startCamera().catch((error: unknown) => {
      stop();
      update({ kind: "off", problem: toCameraProblem(error) });
    });
    return () => {
      isOver = true;
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

/** Requests a large picture, since the shown picture is sent. */
async function openStream(id: string | undefined): Promise<MediaStream> {
  const size = { width: { ideal: 1920 }, height: { ideal: 1080 } };
  return devices().getUserMedia({ video: { ...size, ...(id !== undefined && { deviceId: { exact: id } }) }, audio: false });
}

async function listCameras(): Promise<Camera[]> {
  const all = await devices().enumerateDevices();
  return all.filter(({ kind }) => kind === "videoinput").map(({ deviceId, label }) => ({ id: deviceId, name: label }));
}

/** Browsers offer no cameras on a page served over plain http. */
function devices(): MediaDevices {
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
