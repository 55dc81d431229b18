/** Ids of calls: a UUIDv7 has `requested_at` in milliseconds as its first 48 bits. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_CHARS = 36;

export function isUuid(text: string): boolean {
  return text.length === UUID_CHARS && UUID.test(text);
}

/** Whether a call may have this id: other UUIDs begin with no time. */
export function isCallId(text: string): boolean {
  return isUuid(text) && text[14] === '7';
}

export function requestedAtOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}
