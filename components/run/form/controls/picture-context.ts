import { type Decode } from "./check-picture";
import { type RunPorts } from "@/components/run/run-ports";
import { type SendPicture, type UnsentPicture } from "./use-picture-upload";

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
  /** Of the files that the service has: known from before this opening, and how to ask anew. Without it the list is taken as it is. */
  listing?: { isOld: boolean; readAgain: () => void };
  onNamed: (sentAs: string, ownName: string) => void;
  /** For people who know no file names of a service: what a picture is called is told and not edited, and nobody chooses among the server's files. */
  isPlain?: boolean;
  /** For whoever may give files and see no others: nothing is chosen among the assets. */
  isBlind?: boolean;
  /** Whoever could not save a mask is not let to draw one. */
  canMask?: boolean;
  /** Back to none, or to what stands there by itself; absent where there is nothing to take out. */
  onRemove?: () => void;
  /** Where a picture is shown from, if not from the service's own files. */
  sourceOf?: (value: string) => string;
};
