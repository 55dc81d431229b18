/** What turns a planned call into a provider's bodies, and what the formats share. */
import type { PlannedCall } from '../planned-call.ts';

/** JSON leaves out undefined members. */
export interface DemoFormat {
  readonly request: (call: PlannedCall) => object;
  readonly whole: (call: PlannedCall) => object;
  /** Server-sent events; null for an API with other streams. */
  readonly stream: ((call: PlannedCall) => string) | null;
}

const PIECE_CHARS = 28;

/** Splits into pieces of about half a line, between words. */
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

/** The text and picture of the call's question, for a format without conversations. */
export function questionOf({ turns }: PlannedCall): { readonly text: string; readonly image: string | null } {
  const last = turns.at(-1);
  if (last?.role !== 'user') throw new Error('demo data: only Messages carries a conversation on');
  return last;
}

export function createdAtS({ requestedAtMs }: PlannedCall): number {
  return Math.floor(requestedAtMs / 1_000);
}

export function dataLine(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** The event's name is its own `type`. */
export function namedEvent(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${data.type}\n${dataLine(data)}`;
}
