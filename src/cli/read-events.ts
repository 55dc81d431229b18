/** Parses the server-sent events of our own API. */

export interface ServerEvent {
  readonly id: string | null;
  /** Null of a keep-alive, whose id is where to go on. */
  readonly data: string | null;
}

/** A larger event is a defect of the server. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;

export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_EVENT_CHARS) throw new Error('an event of the live tail is too large');
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const event = parseEvent(part);
      if (event !== null) yield event;
    }
  }
}

function parseEvent(text: string): ServerEvent | null {
  const lines = text.split('\n');
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
  const id = lines.find((line) => line.startsWith('id: '))?.slice(4) ?? null;
  if (data.length > 0) return { id, data: data.join('\n') };
  return id === null ? null : { id, data: null };
}
