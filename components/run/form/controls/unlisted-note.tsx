import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { toFileRef } from "@/lib/contract/assets/file-refs";
import { own } from "@/lib/contract/json/own";
import { type ChoiceValue } from "@/lib/contract/nodes/input-spec";
import { contentOf } from "./asset-value";
import { type PictureContext } from "./picture-context";

/** `options`: undefined if the service's list is not loaded. */
type UnlistedNoteProps = {
  value: string;
  options: readonly ChoiceValue[] | undefined;
  picture: Pick<PictureContext, "ownNames" | "listing">;
};

/** Notes a file that the service does not list. A list from before this opening is read again first. The run is still allowed. */
export function UnlistedNote({ value, options, picture: { ownNames, listing } }: UnlistedNoteProps) {
  const t = useTranslations("run.media");
  // A file that was uploaded or chosen here has an own name, and exists even if it is not listed.
  const isMissing = own(ownNames, value) === undefined && options !== undefined && isUnlisted(value, options);
  const isUnsure = isMissing && listing?.isOld === true;
  const readAgain = useEffectEvent(() => listing?.readAgain());
  useEffect(() => {
    if (isUnsure) readAgain();
  }, [isUnsure]);
  return isMissing && !isUnsure ? <span className="block text-sm text-wait">{t("unlisted")}</span> : null;
}

/** Lists hold the files in the input folder; files named by their content are in no list. */
function isUnlisted(value: string, options: readonly ChoiceValue[]): boolean {
  const { filename, subfolder, type } = toFileRef(value);
  const path = subfolder === "" ? filename : `${subfolder}/${filename}`;
  const names = options.filter((option) => typeof option === "string");
  if (value === "" || type !== "input" || contentOf(value) !== undefined) return false;
  const isListable = subfolder === "" || names.some((name) => name.includes("/"));
  return isListable && !names.includes(path) && !names.includes(value);
}
