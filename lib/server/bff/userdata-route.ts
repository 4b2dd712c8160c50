// User data files: the path in the address may hold slashes, encoded or not, so it is read here from the raw address, once.
// Guarantees: decoded exactly once (%252F is a name with "%2F" in it); no path climbs out, no backslash, no control character.
// A raw FILE/move/DEST is the move; a file of that name is reached with its slashes encoded.

import "server-only";
import { RAW_PARAMETER } from "@/lib/contract/console";
import { type Failure, refusal } from "@/lib/contract/failure";
import { skippedIn } from "@/lib/contract/json/readers";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { listFiles } from "../operations/list-files";
import { runOperation } from "../operations/run-operation";
import { searchOf } from "../requests/read-request";
import { jsonAnswer, unreadableHeaders } from "../requests/responses";
import { guarded, type Handler } from "./guard";
import { bffRoute } from "./routes";

const LONGEST = 2000;
const PREFIX = "/api/userdata/";

export function userdataRoute(operation: Operation): Handler {
  return bffRoute(operation, {
    readParams: ({ request }) => {
      const file = decodePath(rawSegments(request.url));
      return file.ok ? ok({ file: file.value }) : file;
    },
  });
}

export function userdataListRoute(): Handler {
  const { name: action, role } = operations.listUserdata;
  return guarded({ action, role, connection: true }, async (asked) => {
    const search = searchOf(asked.request);
    if (search.has(RAW_PARAMETER)) return runOperation(operations.listUserdata, asked, ok({}));
    const files = await listFiles(asked, search, asked.request.signal);
    return files.ok ? ok(jsonAnswer(files.value, 200, unreadableHeaders(skippedIn(files.value)))) : files;
  });
}

/** One address for two operations: writing and moving. */
export function userdataPostRoute(): Handler {
  const { writeUserdata, moveUserdata } = operations;
  return guarded({ action: writeUserdata.name, role: writeUserdata.role, connection: true }, (asked) => {
    const segments = rawSegments(asked.request.url);
    const isMove = segments.length === 3 && segments[1] === "move";
    const file = decodePath(isMove ? segments.slice(0, 1) : segments);
    const dest = isMove ? decodePath(segments.slice(2)) : undefined;
    if (!file.ok) return runOperation(writeUserdata, asked, file);
    if (dest === undefined) return runOperation(writeUserdata, asked, ok({ file: file.value }));
    return runOperation(moveUserdata, asked, dest.ok ? ok({ file: file.value, dest: dest.value }) : dest);
  });
}

function rawSegments(url: string): string[] {
  const path = url.split(/[?#]/)[0] ?? "";
  const at = path.indexOf(PREFIX);
  return at < 0 ? [] : path.slice(at + PREFIX.length).split("/");
}

function decodePath(segments: readonly string[]): Result<string, Failure> {
  let path: string;
  try {
    path = segments.map(decodeURIComponent).join("/");
  } catch {
    return failed(refusal("BAD_REQUEST", "The path is not encoded as it should be."));
  }
  const reason = refusedFor(path);
  if (reason !== undefined) return failed(refusal("FORBIDDEN", `This path is not allowed. ${reason}`));
  return ok(path);
}

function refusedFor(path: string): string | undefined {
  const names = path.split("/");
  if (names.includes("")) return "It contains an empty name.";
  if (names.includes(".") || names.includes("..")) return '"." and ".." are not names.';
  if (path.length > LONGEST) return `It is longer than ${LONGEST} characters.`;
  if (path.includes("\\")) return "It contains a backslash.";
  return /[\u0000-\u001f\u007f]/.test(path) ? "It contains a control character." : undefined;
}
