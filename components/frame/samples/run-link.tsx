import { useTranslations } from "next-intl";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { ButtonLink } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";

/** A link to the Run page, shown if there are no jobs. */
export function RunLink() {
  const connection = useConnectionParam();
  return <ButtonLink href={withQuery("/run", { connection })}>{useTranslations("frame")("run")}</ButtonLink>;
}
