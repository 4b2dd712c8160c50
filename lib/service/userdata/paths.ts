// Turns the path that a client writes into the segments of a file's path below its user's root. One file has one name: characters are
// composed (NFC), so that spellings which look alike are the same file; upper and lower case differ.
// Must never: lead elsewhere, even if the segments are used as files on a disk: not by dots, absolute paths, backslashes, NUL, repeated
// encoding or device names.

import { toPlainLine } from "@/lib/contract/plain-line";
import { ServiceError } from "../service-error";

const LONGEST_PATH = 1000;
/** The longest name on common disks. */
const LONGEST_NAME = 255;
const MOST_DECODINGS = 5;
/** Names that some systems read as devices, whatever their extension. */
const device = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³]) *(\..*)?$/i;
/** Overlong encodings of a dot or a slash, which no encoder writes. */
const overlong = /%(c0%(ae|af)|c1%(9c|1c)|e0%80%(ae|af)|f0%80%80%(ae|af))/i;

const BADLY_ENCODED = "It encodes a dot or a slash in a form that no program writes.";

/** `raw`: still percent-encoded, exactly as in the URL. Returns the segments of a file. */
export function parseFilePath(raw: string): string[] {
  if (overlong.test(raw)) throw notAllowed(BADLY_ENCODED);
  return requireHonest(decode(raw));
}

/** From a query, so already decoded; must end with a slash. "/" is the user's own root. */
export function parseFolder(dir: string): string[] {
  if (!dir.endsWith("/")) throw new ServiceError("INVALID_QUERY", "dir: must end with a slash.", { field: "dir" });
  return dir === "/" || dir === "./" ? [] : requireHonest(dir.slice(0, -1));
}

/** A path that decodes, once more or repeatedly, into a way out was meant as one. */
function requireHonest(path: string): string[] {
  if (overlong.test(path)) throw notAllowed(BADLY_ENCODED);
  let inner = path;
  for (let round = 0; round < MOST_DECODINGS; round += 1) {
    const decoded = inner.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
    if (decoded === inner) return requireInside(path.normalize("NFC"));
    inner = decoded;
    refuseWayOut(inner);
  }
  throw notAllowed("It is encoded too many times.");
}

function refuseWayOut(path: string): string[] {
  const segments = path.split("/");
  if (path.startsWith("/")) throw notAllowed("It starts with a slash.");
  if (path.includes("\\")) throw notAllowed("It contains a backslash.");
  if (path.includes("\0")) throw notAllowed("It contains a NUL character.");
  for (const name of segments) {
    if (name === "." || name === "..") throw notAllowed(`"${name}" is not a name.`);
    // Some systems drop trailing dots and spaces.
    if (/[. ]$/.test(name)) throw notAllowed(`"${short(name)}" ends with a dot or a space.`);
    if (/^[A-Za-z]:/.test(name)) throw notAllowed(`"${short(name)}" starts with a drive letter.`);
    if (device.test(name)) throw notAllowed(`"${short(name)}" is a device name on some systems.`);
  }
  return segments;
}

/** A name from the path, for a message. */
function short(name: string): string {
  const printable = name.replace(/\p{C}/gu, "\uFFFD");
  return printable.length > 60 ? `${printable.slice(0, 60)}…` : printable;
}

function requireInside(path: string): string[] {
  const segments = refuseWayOut(path);
  if (segments.some((one) => one === "")) throw new ServiceError("BAD_REQUEST", "The path holds an empty name.");
  if (toPlainLine(path) !== path) throw new ServiceError("BAD_REQUEST", "The path holds a character that controls text.");
  if (path.length > LONGEST_PATH || segments.some((one) => Buffer.byteLength(one) > LONGEST_NAME))
    throw new ServiceError("BAD_REQUEST", `The path is too long: ${LONGEST_PATH} characters at most, ${LONGEST_NAME} bytes in one name.`);
  return segments;
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw new ServiceError("BAD_REQUEST", "The path is not encoded correctly.");
  }
}

function notAllowed(reason: string): ServiceError {
  return new ServiceError("FORBIDDEN", `This path is not allowed. ${reason}`);
}
