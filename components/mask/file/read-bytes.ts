// Reads a few bytes anywhere in a file. Guarantees: bytes beyond the end are 0.

export async function readBytes(file: Blob, from: number, length: number): Promise<DataView> {
  const bytes = new Uint8Array(length);
  bytes.set(new Uint8Array(await file.slice(from, from + length).arrayBuffer()));
  return new DataView(bytes.buffer);
}

export function letters(view: DataView, from: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, from, length));
}
