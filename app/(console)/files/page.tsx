import { createConsolePage } from "@/app/(console)/console-page";
import { FilesScreen } from "@/components/files/files-screen";
import { filesParams, toFilesView } from "@/components/files/files-view";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { parseSearch } from "@/lib/contract/params";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { listFiles } from "@/lib/server/operations/list-files";
import { withRequestTime } from "../console-page";
import { getTextParam, toSearchParams } from "../params";

export const generateMetadata = createPageTitle("files.title");

export default createConsolePage(["files"], (context, { search, connection }) => {
  const { query, ignored } = parseSearch(filesParams, toSearchParams(search));
  const listParams = new URLSearchParams({ dir: query.dir, recurse: "true", full_info: "true", ...(connection && { connection }) });
  return (
    <>
      <IgnoredValues list={ignored} />
      <FilesScreen
        key={query.dir}
        query={query}
        openedPath={getTextParam(search, "file")}
        canChange={context.viewer.can("operator")}
        files={withRequestTime(listFiles(context, listParams), (files) => toFilesView(files, query))}
      />
    </>
  );
});
