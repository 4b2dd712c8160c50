import { type ReactNode } from "react";
import { type MaskPlace } from "@/components/mask/file/mask-source";
import { type RunPorts } from "@/components/run/run-ports";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Decode } from "./check-picture";
import { type SendPicture, type UnsentPicture } from "./use-picture-upload";

export type PickedPicture = { value: string; name: string };
export type PickerProps = { isOpen: boolean; onClose: () => void; onPicked: (picked: PickedPicture) => void };

/** What an image input needs beyond its value: where pictures are shown from, and how a new one is sent. */
export type PictureContext = {
  connection?: string;
  listAssets: RunPorts["listAssets"];
  storedName: RunPorts["storedName"];
  /** False for members who may not upload to the service: then no picture can be replaced by another. */
  canSend: boolean;
  sendPicture: SendPicture;
  decode?: Decode;
  /** The uploader's own file name of each picture, by the name that is sent. */
  ownNames?: Readonly<Record<string, string>>;
  unsent?: Readonly<Record<string, UnsentPicture>>;
  /** State of the service's file list: whether it is old, and how to read it again. Without it the list is taken as it is. */
  listing?: { isOld: boolean; readAgain: () => void };
  onNamed: (sentAs: string, ownName: string) => void;
  /** For members who know no file names of a service: a picture's name is not editable, and the server's files are not offered. */
  isPlain?: boolean;
  /** Replaces the asset picker, for members who may not see the assets. */
  picker?: (props: PickerProps) => ReactNode;
  /** Replaces the connection's files as the place of masks. */
  masks?: MaskPlace;
  /** Resets to no picture, or to the default; absent where there is nothing to remove. */
  onRemove?: () => void;
  /** Why a picture was not accepted, where the form has a better message than the failure's own: then "again" is not offered. */
  saysWhy?: (failure: ApiFailure) => string | undefined;
  /** Where a picture is shown from, if not from the service's own files. */
  sourceOf?: (value: string) => string;
};
