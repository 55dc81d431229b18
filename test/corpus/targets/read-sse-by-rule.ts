/**
 * Server-sent events by the letter of the WHATWG's algorithm (HTML, section 9.2.6), slow and whole, to hold our reader
 * against. Two differences are meant: an event without its blank line counts at the end, and a type stands for its own
 * event only if that has data. Of bytes as Latin-1, since our reader does not decode.
 */
export function readSseByRule(bytes: Buffer): (readonly [string | null, string])[] {
  const events: (readonly [string | null, string])[] = [];
  let type: string | null = null;
  let data: string[] = [];

  function dispatch(): void {
    if (data.length > 0) events.push([type === '' ? null : type, data.join('\n')]);
    type = null;
    data = [];
  }

  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') {
      dispatch();
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') type = Buffer.from(value, 'latin1').toString();
    if (field === 'data') data.push(value);
  }
  dispatch();
  return events;
}
