/**
 * The events of a streamed response of the Responses API as the response without streaming: the last event carries it
 * whole; when the stream was cut before, it is put together from the pieces.
 */
import { isRecord, readField, readList, readNumber, readText } from './json-reading.ts';
import { appendText, inOrder, type StreamEvent } from './stream-events.ts';

const ENDINGS: readonly string[] = ['response.completed', 'response.incomplete', 'response.failed'];

interface ItemSoFar {
  item: unknown;
  isDone: boolean;
  /** By the event's kind and the position of the part. */
  readonly texts: Map<string, string>;
}

function joinTexts(texts: ReadonlyMap<string, string>, kind: string): readonly string[] {
  return [...texts].filter(([key]) => key.startsWith(`${kind}:`)).map(([, text]) => text);
}

function finishItem({ item, isDone, texts }: ItemSoFar): unknown {
  if (isDone || texts.size === 0) return item;
  const content = [
    ...joinTexts(texts, 'output_text').map((text) => ({ type: 'output_text', text })),
    ...joinTexts(texts, 'refusal').map((refusal) => ({ type: 'refusal', refusal })),
    ...joinTexts(texts, 'reasoning_text').map((text) => ({ type: 'reasoning_text', text })),
  ];
  const summary = joinTexts(texts, 'reasoning_summary_text').map((text) => ({ type: 'summary_text', text }));
  const [argumentsText] = joinTexts(texts, 'function_call_arguments');
  const [input] = joinTexts(texts, 'custom_tool_call_input');
  return {
    ...(isRecord(item) ? item : { type: 'message', role: 'assistant' }),
    ...(content.length === 0 ? {} : { content }),
    ...(summary.length === 0 ? {} : { summary }),
    ...(argumentsText === undefined ? {} : { arguments: argumentsText }),
    ...(input === undefined ? {} : { input }),
  };
}

export function assembleResponses(events: readonly StreamEvent[]): unknown {
  const items = new Map<number, ItemSoFar>();
  let response: unknown;
  for (const { data } of events) {
    const type = readText(data, 'type') ?? '';
    response = readField(data, 'response') ?? response;
    if (ENDINGS.includes(type) && readList(response, 'output').length > 0) return response;
    const index = readNumber(data, 'output_index');
    if (index === null) continue;
    const entry = items.get(index) ?? { item: undefined, isDone: false, texts: new Map() };
    items.set(index, entry);
    const item = readField(data, 'item');
    if (item !== undefined) entry.item = item;
    if (type === 'response.output_item.done') entry.isDone = true;
    if (type.endsWith('.delta')) {
      const part = readNumber(data, 'content_index') ?? readNumber(data, 'summary_index') ?? 0;
      appendText(entry.texts, `${type.slice('response.'.length, -'.delta'.length)}:${part}`, readText(data, 'delta'));
    }
  }
  return { ...(isRecord(response) ? response : { object: 'response' }), output: inOrder(items).map(finishItem) };
}
