/** The parts that all streamed formats share: a text in pieces, and events as lines. */
import type { JsonObject } from '../../token-usage.ts';

const PIECE_CHARS = 28;

/** About a line's half each, cut between words. */
export function splitText(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const word of text.split(/(?<=\s)/)) {
    piece += word;
    if (piece.length < PIECE_CHARS) continue;
    pieces.push(piece);
    piece = '';
  }
  return piece === '' ? pieces : [...pieces, piece];
}

export function dataLine(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** The event's name is its own `type`. */
export function namedEvent(data: JsonObject & { readonly type: string }): string {
  return `event: ${data.type}\n${dataLine(data)}`;
}
