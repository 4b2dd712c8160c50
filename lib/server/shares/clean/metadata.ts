// Reduces EXIF to the orientation, and colour profiles to their numbers.

import "server-only";

export const MAX_EXIF_BYTES = 64 * 1024;
const ORIENTATION = 0x0112;

/** A TIFF with only that field. */
export function orientationOnly(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*", 0, "latin1");
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}

/** Longer profiles are removed. */
export const MAX_PROFILE_BYTES = 4 * 1024 ** 2;
const HEADER_BYTES = 128;
const MAX_TAGS = 100;
const colorants = new Set(["wtpt", "rXYZ", "gXYZ", "bXYZ"]);
const curves = new Set(["rTRC", "gTRC", "bTRC", "kTRC"]);
/** Numbers of a parametric curve by its function type. */
const PARAMETERS = [1, 3, 4, 5, 7];

export function cleanProfile(profile: Buffer): Buffer | undefined {
  if (profile.length < HEADER_BYTES + 4 || profile.toString("latin1", 36, 40) !== "acsp") return undefined;
  const [kind, space, connection] = [12, 16, 20].map((at) => profile.toString("latin1", at, at + 4));
  if ((kind !== "mntr" && kind !== "scnr" && kind !== "spac") || (space !== "RGB " && space !== "GRAY") || connection !== "XYZ ")
    return undefined;
  const count = profile.readUInt32BE(HEADER_BYTES);
  if (count > MAX_TAGS || profile.length < HEADER_BYTES + 4 + count * 12) return undefined;
  const tags = new Map<string, Buffer>();
  for (let index = 0; index < count; index++) {
    const entry = HEADER_BYTES + 4 + index * 12;
    const name = profile.toString("latin1", entry, entry + 4);
    const start = profile.readUInt32BE(entry + 4);
    const content = cleanTag(name, profile.subarray(start, start + profile.readUInt32BE(entry + 8)));
    if (content && !tags.has(name)) tags.set(name, content);
  }
  const required = space === "GRAY" ? ["wtpt", "kTRC"] : [...colorants, "rTRC", "gTRC", "bTRC"];
  return required.every((name) => tags.has(name)) ? build(profile, tags) : undefined;
}

function build(profile: Buffer, tags: ReadonlyMap<string, Buffer>): Buffer {
  const head = Buffer.alloc(HEADER_BYTES + 4 + tags.size * 12);
  profile.copy(head, 8, 8, 10);
  profile.copy(head, 12, 12, 24);
  head.write("acsp", 36, "latin1");
  // The white point of the connection space, which every profile has.
  head.set([0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d], 68);
  head.writeUInt32BE(tags.size, HEADER_BYTES);
  let [entry, at] = [HEADER_BYTES + 4, head.length];
  for (const [name, content] of tags) {
    head.write(name, entry, "latin1");
    head.writeUInt32BE(at, entry + 4);
    head.writeUInt32BE(content.length, entry + 8);
    [entry, at] = [entry + 12, at + content.length];
  }
  head.writeUInt32BE(at, 0);
  return Buffer.concat([head, ...tags.values()]);
}

/** Undefined for any other tag. */
function cleanTag(name: string, content: Buffer): Buffer | undefined {
  const type = content.toString("latin1", 0, 4);
  const cut = (length: number) => {
    if (content.length < length) return undefined;
    // Tags are aligned to four bytes.
    const own = Buffer.alloc(Math.ceil(length / 4) * 4);
    content.copy(own, 0, 0, length);
    return own.fill(0, 4, 8);
  };
  if (colorants.has(name) && type === "XYZ ") return cut(20);
  if (name === "chad" && type === "sf32") return cut(44);
  if (!curves.has(name) || content.length < 12) return undefined;
  if (type === "para") {
    const parameters = PARAMETERS[content.readUInt16BE(8)];
    return parameters === undefined ? undefined : cut(12 + parameters * 4)?.fill(0, 10, 12);
  }
  if (type !== "curv") return undefined;
  const points = content.readUInt32BE(8);
  const curve = points <= 65_536 ? cut(12 + points * 2) : undefined;
  if (!curve) return undefined;
  // A curve never falls: bytes that do are not a curve.
  for (let index = 1; index < points; index++)
    if (curve.readUInt16BE(12 + index * 2) < curve.readUInt16BE(10 + index * 2)) return undefined;
  return curve;
}
