import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { FilesScreen } from "@/components/files/files-screen";
import { filesParams, toFilesView } from "@/components/files/files-view";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { PageMessages } from "@/components/frame/page-header";
import { readAddress } from "@/lib/contract/params";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listFiles } from "@/lib/server/operations/list-files";
import { textParam, toSearchParams } from "../params";
import { stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("files"))("title") };
}

export default async function FilesPage({ searchParams }: PageProps<"/files">) {
  const context = await openPage();
  const params = await searchParams;
  const { query, ignored } = readAddress(filesParams, toSearchParams(params));
  const linked = textParam(params, "connection");
  const files = stamp(
    listFiles(context, new URLSearchParams({ dir: query.dir, recurse: "true", full_info: "true", ...(linked && { connection: linked }) })),
    (listed) => toFilesView(listed, query),
  );
  return (
    <PageMessages messages={await pickMessages("files")}>
      <IgnoredValues list={ignored} />
      <FilesScreen
        key={query.dir}
        query={query}
        linked={linked}
        opened={textParam(params, "file")}
        canChange={context.viewer.can("operator")}
        files={files}
      />
    </PageMessages>
  );
}
