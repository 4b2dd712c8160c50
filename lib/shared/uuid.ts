// A UUID of RFC 9562 from 32 hexadecimal digits; those of the version and the variant are replaced.

export function toUuid(hex: string, version: 4 | 5 | 8): string {
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
