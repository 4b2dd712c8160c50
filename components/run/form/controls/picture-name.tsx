import { useTranslations } from "next-intl";
import { useState } from "react";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Input } from "@/components/ui/controls/input";
import { type ControlProps } from "./control-props";

type PictureNameProps = Omit<ControlProps, "value"> & { sentAs: string; ownName?: string };

/**
 * A service renames an upload to a long hash. At rest the field shows the uploader's own name of the picture; with the focus it holds
 * the name that is sent, since that is what can be edited.
 */
export function PictureName({ sentAs, ownName, onChange, ...control }: PictureNameProps) {
  const t = useTranslations("run.picture");
  const common = useTranslations("common");
  const [isFocused, setFocused] = useState(false);
  const isRenamed = ownName !== undefined && ownName !== sentAs;
  return (
    <span className="flex w-full items-center gap-1">
      <Input
        {...control}
        aria-label={t("name")}
        title={isRenamed ? sentAs : undefined}
        value={isRenamed && !isFocused ? ownName : sentAs}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onChange={({ target }) => onChange(target.value)}
        spellCheck={false}
        autoComplete="off"
        className="font-mono text-sm"
      />
      {isRenamed ? <CopyButton text={sentAs} label={common("copy", { id: sentAs })} /> : null}
    </span>
  );
}
