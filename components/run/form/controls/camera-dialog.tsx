import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { Skeleton } from "@/components/ui/skeleton";

type CameraDialogProps = { isOpen: boolean; onClose: () => void; onTaken: (photo: File) => void };

/** Takes a photo with the computer's camera and shows it before it is used. */
export function CameraDialog({ isOpen, onClose, onTaken }: CameraDialogProps) {
  const t = useTranslations("run.camera");
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} className="w-[min(760px,calc(100vw-24px))]">
      <Body onClose={onClose} onTaken={onTaken} />
    </Dialog>
  );
}

/** The quality that camera makers and phones use: a small file without a visible loss. */
const [KIND, QUALITY] = ["image/jpeg", 0.95];
const box = "mx-auto block aspect-video max-h-[60dvh] w-full rounded-md bg-sunken object-contain";

function Body({ onClose, onTaken }: Omit<CameraDialogProps, "isOpen">) {
  const t = useTranslations("run.camera");
  const common = useTranslations("common");
  const { state, start } = useCamera();
  const video = useRef<HTMLVideoElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [seen, setSeen] = useState<MediaStream>();
  const [taken, setTaken] = useState<File>();
  const stream = state.kind === "on" ? state.stream : undefined;
  const cameras = state.kind === "on" ? state.cameras : [];
  function take() {
    const [from, to] = [video.current, canvas.current];
    if (!from || !to) return;
    to.width = from.videoWidth;
    to.height = from.videoHeight;
    to.getContext("2d")?.drawImage(from, 0, 0);
    to.toBlob((blob) => setTaken(blob ? new File([blob], nameAt(new Date()), { type: KIND }) : undefined), KIND, QUALITY);
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
          hidden={taken !== undefined}
          onPlaying={() => setSeen(stream)}
          className={box}
        />
      ) : null}
      <canvas ref={canvas} role="img" aria-label={t("taken")} hidden={!taken} className={box} />
      {cameras.length > 1 && state.kind === "on" && !taken ? (
        <Select aria-label={t("choose")} value={state.current} onChange={({ target }) => start(target.value)} className="self-start">
          <Options of={cameras.map(({ id, name }, index) => [id, name || t("nameless", { number: index + 1 })])} />
        </Select>
      ) : null}
      <DialogFoot>
        <Button onClick={onClose}>{common("cancel")}</Button>
        {state.kind === "off" && !taken ? (
          <Button key="start" autoFocus onClick={() => start()}>
            {common("retry")}
          </Button>
        ) : null}
        {taken ? (
          <>
            {stream ? <Button onClick={() => setTaken(undefined)}>{t("again")}</Button> : null}
            <Button key="use" autoFocus tone="primary" onClick={() => onTaken(taken)}>
              {t("use")}
            </Button>
          </>
        ) : stream ? (
          <Button key="take" autoFocus tone="primary" busy={seen !== stream} onClick={take}>
            {t("take")}
          </Button>
        ) : null}
      </DialogFoot>
    </div>
  );
}

/** Named by date and time to the second, so that several photos have different names. */
function nameAt(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `photo-${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}.jpg`;
}

type CameraProblem = "refused" | "none" | "inUse" | "notSecure" | "ended";
type Camera = { id: string; name: string };
type CameraState =
  | { kind: "starting" }
  | { kind: "on"; stream: MediaStream; cameras: readonly Camera[]; current: string | undefined }
  | { kind: "off"; problem: CameraProblem };

/** The computer's camera while the caller is mounted. It is switched off on unmount, even if it only becomes available afterwards. */
function useCamera() {
  // `id`: the chosen camera; absent to let the browser choose. A new object starts the camera again.
  const [camera, setCamera] = useState<{ id?: string }>({});
  const [state, setState] = useState<CameraState>({ kind: "starting" });
  useEffect(() => {
    let isOver = false;
    let stream: MediaStream | undefined;
    const stop = () => stream?.getTracks().forEach((track) => track.stop());
    const update = (next: CameraState) => void (isOver || setState(next));
    async function begin() {
      stream = await open(camera.id);
      if (isOver) return stop();
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => update({ kind: "off", problem: "ended" }));
      // Browsers reveal the cameras' names only after access is granted.
      update({ kind: "on", stream, cameras: await listCameras(), current: track?.getSettings().deviceId });
    }
    begin().catch((error: unknown) => {
      stop();
      update({ kind: "off", problem: problemOf(error) });
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

/** At the camera's largest size, since the shown picture is sent. */
async function open(id: string | undefined): Promise<MediaStream> {
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

function problemOf(error: unknown): CameraProblem {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") return "refused";
  if (name === "SecurityError") return "notSecure";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "none" : "inUse";
}
