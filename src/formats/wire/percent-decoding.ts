/** Decodes percent escapes; malformed ones stay as they are. The dashboard runs this too. */

/** Each run of escapes that is valid UTF-8 is decoded; an invalid one stays literal. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text.toWellFormed();
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, decodeEscapes).toWellFormed();
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes the valid characters and leaves each invalid byte as spelt. */
function decodeEscapes(escapes: string): string {
  // Not a Buffer: the dashboard runs this in the browser.
  const bytes = Uint8Array.from(escapes.split('%').slice(1), (hex) => Number.parseInt(hex, 16));
  let decoded = '';
  for (let index = 0; index < bytes.length; ) {
    const length = characterLength(bytes[index] ?? 0);
    const character = length === 0 ? null : decodeCharacter(bytes.subarray(index, index + length));
    decoded += character ?? escapes.slice(index * 3, index * 3 + 3);
    index += character === null ? 1 : length;
  }
  return decoded;
}

function characterLength(firstByte: number): number {
  if (firstByte < 0x80) return 1;
  if (firstByte >= 0xc2 && firstByte <= 0xdf) return 2;
  if (firstByte >= 0xe0 && firstByte <= 0xef) return 3;
  return firstByte >= 0xf0 && firstByte <= 0xf4 ? 4 : 0;
}

function decodeCharacter(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}
