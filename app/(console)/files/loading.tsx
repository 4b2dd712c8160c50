import { FilesSkeleton } from "@/components/files/files-skeleton";
import { PageMessages } from "@/components/frame/page-messages";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function FilesLoading() {
  return (
    <PageMessages messages={await pickMessages("files")}>
      <FilesSkeleton />
    </PageMessages>
  );
}
