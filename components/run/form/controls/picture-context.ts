import { type ReactNode } from "react";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type MaskPlace } from "@/components/mask/file/mask-source";
import { type Decode } from "./check-picture";
import { type RunPorts } from "@/components/run/run-ports";
import { type SendPicture, type UnsentPicture } from "./use-picture-upload";

export type PickedPicture = { value: string; name: string };
export type PickerProps = { isOpen: boolean; onClose: () => void; onPicked: (picked: PickedPicture) => void };

/** What an image input needs beyond its value: where pictures are shown from, and how a new one travels. */
export type PictureContext = {
  connection?: string;
  isLocal?: boolean;
  listAssets: RunPorts["listAssets"];
  storedName: RunPorts["storedName"];
  /** False for whoever may bring nothing to the service: then no picture can be put in the place of another. */
  canSend: boolean;
  sendPicture: SendPicture;
  decode?: Decode;
  /** What its owner calls a picture, by the name that is sent. */
  ownNames?: Readonly<Record<string, string>>;
  unsent?: Readonly<Record<string, UnsentPicture>>;
  /** Of the files that the service has: the names known so far, and how to ask again. Without it the list is taken as it is. */
  listing?: { isOld: boolean; readAgain: () => void };
  onNamed: (sentAs: string, ownName: string) => void;
  /** For people who know no file names of a service: the name of a picture is shown and not edited, and the server's files are not offered. */
  isPlain?: boolean;
  /** In the place of the assets: what may be chosen from by whoever may not see these. */
  picker?: (props: PickerProps) => ReactNode;
  /** In the place of the connection's files. */
  masks?: MaskPlace;
  /** Back to none, or to the default; absent where there is nothing to remove. */
  onRemove?: () => void;
  /** Why a picture was not taken, where the form knows a better sentence than the failure's own: then the same picture is not sent again. */
  saysWhy?: (failure: ApiFailure) => string | undefined;
  /** Where a picture is shown from, if not from the service's own files. */
  sourceOf?: (value: string) => string;
};
