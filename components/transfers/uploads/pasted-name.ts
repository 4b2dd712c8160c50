/** A browser calls every pasted picture image.png: the moment tells them apart. A file that was copied keeps its name. */
export function pastedName(file: File, at: Date): File {
  const plain = /^image(\.\w+)$/i.exec(file.name);
  if (!plain) return file;
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}-${two(at.getMinutes())}-${two(at.getSeconds())}`;
  return new File([file], `pasted ${day} ${time}${plain[1]}`, { type: file.type, lastModified: at.getTime() });
}
