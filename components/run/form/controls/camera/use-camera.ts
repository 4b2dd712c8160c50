import { useEffect, useState } from "react";

export type CameraProblem = "refused" | "none" | "inUse" | "notSecure" | "ended";
type Camera = { id: string; name: string };
export type CameraState =
  | { kind: "starting" }
  | { kind: "on"; stream: MediaStream; cameras: readonly Camera[]; current: string | undefined }
  | { kind: "off"; problem: CameraProblem };

/** The computer's camera while the caller is mounted. It is switched off on unmount, even if it only becomes available afterwards. */
export function useCamera() {
  // `id`: the chosen camera; absent to let the browser choose. A new object starts the camera again.
  const [asked, setAsked] = useState<{ id?: string }>({});
  const [state, setState] = useState<CameraState>({ kind: "starting" });
  useEffect(() => {
    let isOver = false;
    let stream: MediaStream | undefined;
    const stop = () => stream?.getTracks().forEach((track) => track.stop());
    const tell = (next: CameraState) => void (isOver || setState(next));
    async function begin() {
      stream = await open(asked.id);
      if (isOver) return stop();
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => tell({ kind: "off", problem: "ended" }));
      // Browsers reveal the cameras' names only after access is granted.
      tell({ kind: "on", stream, cameras: await listCameras(), current: track?.getSettings().deviceId });
    }
    begin().catch((error: unknown) => {
      stop();
      tell({ kind: "off", problem: problemOf(error) });
    });
    return () => {
      isOver = true;
      stop();
    };
  }, [asked]);
  return {
    state,
    start(id?: string) {
      setState({ kind: "starting" });
      setAsked(id === undefined ? {} : { id });
    },
  };
}

/** At the camera's largest size, as what is shown is what is sent. */
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
  const found: MediaDevices | undefined = navigator.mediaDevices;
  if (!found) throw new DOMException("", "SecurityError");
  return found;
}

function problemOf(error: unknown): CameraProblem {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") return "refused";
  if (name === "SecurityError") return "notSecure";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "none" : "inUse";
}
