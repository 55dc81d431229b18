/** A stored body's bytes as text, without ever failing: what is not UTF-8 is marked, not hidden. */

export interface BodyText {
  readonly text: string;
  /** False: bytes that are no text were replaced by `\uFFFD`. */
  readonly isExact: boolean;
}

export function decodeBody(bytes: Uint8Array): BodyText {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), isExact: true };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), isExact: false };
  }
}

const LINE_BYTES = 16;

/** `00000000  7b 22 …  {"…` for the first `mostBytes`. */
export function formatHex(bytes: Uint8Array, mostBytes: number): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, mostBytes); at += LINE_BYTES) {
    const line = bytes.subarray(at, Math.min(at + LINE_BYTES, mostBytes));
    const hex = Array.from(line, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = Array.from(line, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(LINE_BYTES * 3 - 1)}  ${text}`);
  }
  return lines.join('\n');
}

export interface CutText {
  readonly text: string;
  /** Characters that are not in `text`; 0 when it is whole. */
  readonly hiddenCharacters: number;
}

/** For drawing: the beginning of a long text, and how much more there is. A pair of surrogates is never split. */
export function cutText(text: string, mostCharacters: number): CutText {
  if (text.length <= mostCharacters) return { text, hiddenCharacters: 0 };
  const last = text.charCodeAt(mostCharacters - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? mostCharacters - 1 : mostCharacters;
  return { text: text.slice(0, end), hiddenCharacters: text.length - end };
}
